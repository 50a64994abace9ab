import { updatePool } from "../contract/load-balancer-pools.ts";
import type { Operation } from "../contract/operation.ts";
import { getTask } from "../contract/tasks.ts";
import type { Random } from "../platform/ports/random.ts";
import { type AccountClientPorts, createAccountClient } from "./account-client.ts";
import type { AccountSettings, AccountsConfig } from "./accounts-config.ts";
import { createApiKeyCache, type KeyPorts, type KeySource, keySourceOf } from "./api-key.ts";
import type { Client, ClientOptions, OtherPaths } from "./client.ts";
import { createRateLimiter, type Readiness } from "./rate-limiter.ts";

/** The account of requests that name none. */
export const DEFAULT_ACCOUNT = "local";

/** A cloud account at the provider. */
export interface Account {
  readonly name: string;
  /** Keeps to the rate limit, and uses a key that was replaced. */
  readonly client: Client;
  /**
   * Reserves permits for the next calls, for as long as their window of a second lasts. A command calls
   * it before it records its request, and before it reads anything for it. Waits up to a second.
   * @param permits how many requests are to follow, from 1. One permit is enough where no window has as
   * many, and while the key is refused, when one request is the half-open probe
   * @throws Error when the ledger fails
   */
  ready(signal: AbortSignal, permits: number): Promise<Readiness>;
  /** The path template that the account's provider answers to. */
  pathOf(operation: Operation): string;
  /**
   * A request whose reply was lost acts within this time or never (ms). An assumption about the
   * provider: absence of a created resource proves nothing before.
   */
  readonly ambiguityWindowMs: number;
  /** Whether the account's interface can list tasks and notification events. */
  readonly canList: boolean;
}

/** How long `ready` waits for permits before it answers when to ask again. */
const READY_WAIT_MS = 1_000;

export interface AccountPorts
  extends AccountClientPorts,
    KeyPorts,
    Pick<ClientOptions, "fetch" | "attemptTimeoutMs"> {
  readonly random: Random;
}

/** The provider of a local run, for accounts that name none. */
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
  // The run's own key is for its own provider only.
  if (settings.baseUrl === undefined || !keySource) {
    throw new Error(`account ${settings.name} names no provider, or no key`);
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
      // The caller has no time left; the next one may ask at once.
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
 * Opens every account of a config, once a process; reads and sends nothing yet.
 * @param own the provider of accounts that name none
 * @throws Error naming an account that has no provider or no key
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
