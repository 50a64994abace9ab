import type { ClientOptions, OtherPaths } from "../client/client.ts";
import { updatePool } from "../contract/load-balancer-pools.ts";
import { getTask } from "../contract/tasks.ts";
import type { EventBus } from "../ports/bus.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Random } from "../ports/random.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { Account, Readiness } from "./account.ts";
import { createAccountClient } from "./account-client.ts";
import { createBudgetNotes } from "./budget-notes.ts";
import type { AccountSettings, AccountsConfig } from "./config.ts";
import { createHeldKey } from "./held-key.ts";
import { createTurns, type Turns } from "./turns.ts";

/** How long `ready` waits for a turn before it says when to ask again. */
const READY_WAIT_MS = 1_000;

export interface AccountPorts extends Pick<ClientOptions, "clock" | "fetch" | "attemptTimeoutMs"> {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly secrets: Secrets;
  /** Where keys are that the config names as `environment`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The provider of accounts that name none: a local run's. */
export interface OwnProvider {
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly paths: OtherPaths;
  readonly canList: boolean;
  readonly settleMs: number;
}

/** How an account's key is read. @throws Error naming where it should be, never the key */
const keyReader = (
  apiKey: AccountSettings["apiKey"],
  { secrets, environment }: AccountPorts,
): (() => Promise<string>) | undefined => {
  if (apiKey === undefined) return undefined;
  if ("parameter" in apiKey) return () => secrets.read(apiKey.parameter);
  return async () => {
    const key = environment[apiKey.environment];
    if (!key) throw new Error(`the environment variable ${apiKey.environment} is not set`);
    return key;
  };
};

/** What the account names itself, or else what the run has. */
const providerOf = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): OwnProvider => {
  const apiKey = keyReader(settings.apiKey, ports);
  if (settings.baseUrl === undefined && own) return { ...own, apiKey: apiKey ?? own.apiKey };
  // The run's own key is for its own provider only.
  if (settings.baseUrl === undefined || !apiKey) {
    throw new Error(`account ${settings.name} names no provider, or no key`);
  }
  const { baseUrl, canList, settleMs, taskPath, poolPath } = settings;
  const paths = { [getTask.id]: taskPath, [updatePool.id]: poolPath };
  return { baseUrl, apiKey, paths, canList, settleMs };
};

const readyBy = async (turns: Turns, ports: AccountPorts, signal: AbortSignal) => {
  const turn = await turns.reserve({ maxWaitMs: READY_WAIT_MS, signal });
  if (turn.kind !== "aborted") return turn;
  // Whoever asks has no time left: whoever comes next may ask at once.
  const stopped: Readiness = { kind: "wait", until: ports.clock.now(), because: "budget-spent" };
  return stopped;
};

const openAccount = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): Account => {
  const { name } = settings;
  const { clock, fetch, attemptTimeoutMs, metrics } = ports;
  const { apiKey, baseUrl, paths, canList, settleMs } = providerOf(settings, ports, own);
  const turns = createTurns(ports, settings);
  return {
    name,
    settleMs,
    canList,
    pathOf: (operation) => paths[operation.id] ?? operation.path,
    ready: (signal) => readyBy(turns, ports, signal),
    client: createAccountClient({
      account: name,
      provider: { baseUrl, paths, clock, fetch, attemptTimeoutMs },
      key: createHeldKey({ read: apiKey, clock }),
      turns,
      notes: createBudgetNotes(ports, name),
      metrics,
    }),
  };
};

/**
 * Opens every account of a config, once a process; nothing is read and nothing is sent yet.
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
