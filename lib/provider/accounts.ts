import { updatePool } from "../contract/load-balancer-pools.ts";
import type { Operation } from "../contract/operation.ts";
import { getTask } from "../contract/tasks.ts";
import { type AccountClientPorts, createAccountClient } from "./account-client.ts";
import type { AccountSettings, AccountsConfig } from "./accounts-config.ts";
import { createApiKeyCache, type KeyPorts, type KeySource, keySourceOf } from "./api-key.ts";
import type { Client, OtherPaths, ProviderOptions } from "./client.ts";
import { createRateLimiter, type RateLimiterPorts, type Readiness } from "./rate-limiter.ts";

/** An open account at the provider. */
export interface Account {
  readonly name: string;
  /** Client that obeys the account's rate limit and picks up a replaced key. */
  readonly client: Client;
  /**
   * Reserves permits for the next calls. They expire with their window of one second. A command reserves
   * before it records its request and before its preflight reads. Waits up to a second.
   * @param permits number of requests that will follow, at least 1. Reserves one permit if the rate limit
   * is lower than that, and while the key is refused, when the request is the half-open probe
   * @throws Error when the ledger fails
   */
  ready(signal: AbortSignal, permits: number): Promise<Readiness>;
  /** Path template of an operation at the account's provider. */
  pathOf(operation: Operation): string;
  /**
   * Ambiguity window, ms: a request without a reply takes effect within this time or never. An assumption
   * about the provider. Before its end, the absence of a created resource proves nothing.
   */
  readonly ambiguityWindowMs: number;
  /** Whether the account's API can list tasks and notification events. */
  readonly canList: boolean;
}

/** How long `ready` waits for permits before it returns the time of the next try. */
const READY_WAIT_MS = 1_000;

export interface AccountPorts
  extends AccountClientPorts,
    RateLimiterPorts,
    KeyPorts,
    Pick<ProviderOptions, "fetch" | "attemptTimeoutMs"> {}

/** The provider of a local run, used by accounts without `base_url`. */
export interface OwnProvider {
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly paths: OtherPaths;
  readonly canList: boolean;
  readonly ambiguityWindowMs: number;
}

const providerOf = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): Omit<OwnProvider, "apiKey"> & { readonly keySource: KeySource } => {
  const keySource = settings.apiKey && keySourceOf(settings.apiKey, ports);
  if (settings.baseUrl === undefined && own) {
    const ownKey: KeySource = { reference: "the run's own provider", read: own.apiKey };
    return { ...own, keySource: keySource ?? ownKey };
  }
  // The run's own key must not be sent to any other provider.
  if (settings.baseUrl === undefined || !keySource) {
    throw new Error(`account ${settings.name}: base_url or api_key is missing`);
  }
  const { baseUrl, canList, ambiguityWindowMs, taskPath, poolPath } = settings;
  const paths = { [getTask.id]: taskPath, [updatePool.id]: poolPath };
  return { baseUrl, keySource, paths, canList, ambiguityWindowMs };
};

const openAccount = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): Account => {
  const { name, maxPauseMs } = settings;
  const { clock, fetch, attemptTimeoutMs } = ports;
  const { keySource, baseUrl, paths, canList, ambiguityWindowMs } = providerOf(
    settings,
    ports,
    own,
  );
  const rateLimiter = createRateLimiter(ports, settings);
  return {
    name,
    ambiguityWindowMs,
    canList,
    pathOf: (operation) => paths[operation.id] ?? operation.path,
    async ready(signal, permits) {
      const permit = await rateLimiter.reserve({ maxWaitMs: READY_WAIT_MS, signal }, permits);
      if (permit.kind !== "aborted") return permit;
      // The caller has no time left; the next caller may ask at once.
      return { kind: "wait", until: clock.now(), because: "budget-spent" };
    },
    client: createAccountClient(ports, {
      account: name,
      provider: { baseUrl, paths, clock, fetch, attemptTimeoutMs, maxPauseMs },
      apiKeys: createApiKeyCache(ports, name, keySource),
      rateLimiter,
    }),
  };
};

/**
 * Opens every account of a config, once per process. Reads no key and sends no request.
 * @param own the provider of accounts without `base_url`
 * @returns a function from an account's name to the account; undefined for an unknown name
 * @throws Error naming an account without a provider or a key
 */
export const openAccounts = (
  config: AccountsConfig,
  ports: AccountPorts,
  own?: OwnProvider,
): ((name: string) => Account | undefined) => {
  const accounts = new Map(
    config.accounts.map((settings) => [settings.name, openAccount(settings, ports, own)]),
  );
  return (name) => accounts.get(name);
};
