import { updatePool } from "../contract/load-balancer-pools.ts";
import type { Operation } from "../contract/operation.ts";
import { getTask } from "../contract/tasks.ts";
import type { EventBus } from "../platform/ports/bus.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { Random } from "../platform/ports/random.ts";
import { createAccountClient, createBudgetNotes } from "./account-client.ts";
import type { AccountSettings, AccountsConfig } from "./accounts-config.ts";
import {
  createHeldKey,
  type HeldKey,
  type KeyPorts,
  type KeySource,
  keySourceOf,
} from "./api-key.ts";
import type { Client, ClientOptions, OtherPaths } from "./client.ts";
import { createTurns, type Readiness, type Turns } from "./rate-limiter.ts";

/** The account of requests that name none. */
export const DEFAULT_ACCOUNT = "local";

/** A cloud account at the provider. */
export interface Account {
  readonly name: string;
  /** Keeps to the request budget, and uses a key that was replaced. */
  readonly client: Client;
  /**
   * To be asked before a request that is recorded before it is sent, and before what is read for it:
   * turns are kept for the next calls while their window, a second, lasts. Waits up to a second if
   * that helps.
   * @param turns how many requests are to follow, from 1. One turn is enough where a window never has
   * as many, and while the key is refused, when one request finds out
   * @throws Error when the ledger fails
   */
  ready(signal: AbortSignal, turns: number): Promise<Readiness>;
  /** The path template that the account's provider answers to. */
  pathOf(operation: Operation): string;
  /**
   * A request whose reply was lost acts within this time or never (ms). An assumption about the
   * provider: absence of a created resource proves nothing before.
   */
  readonly settleMs: number;
  /** Whether the account's interface can list tasks and notification events. */
  readonly canList: boolean;
}

/** How long `ready` waits for a turn before it says when to ask again. */
const READY_WAIT_MS = 1_000;

export interface AccountPorts
  extends KeyPorts,
    Pick<ClientOptions, "clock" | "fetch" | "attemptTimeoutMs"> {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The provider of accounts that name none: a local run's. */
export interface OwnProvider {
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly paths: OtherPaths;
  readonly canList: boolean;
  readonly settleMs: number;
}

interface ProviderOfAccount extends Omit<OwnProvider, "apiKey"> {
  readonly keySource: KeySource;
}

/** What the account names itself, or else what the run has. */
const providerOf = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): ProviderOfAccount => {
  const keySource = settings.apiKey && keySourceOf(settings.apiKey, ports);
  if (settings.baseUrl === undefined && own) {
    const runs: KeySource = { reference: "the run's own provider", read: own.apiKey };
    return { ...own, keySource: keySource ?? runs };
  }
  // The run's own key is for its own provider only.
  if (settings.baseUrl === undefined || !keySource) {
    throw new Error(`account ${settings.name} names no provider, or no key`);
  }
  const { baseUrl, canList, settleMs, taskPath, poolPath } = settings;
  const paths = { [getTask.id]: taskPath, [updatePool.id]: poolPath };
  return { baseUrl, keySource, paths, canList, settleMs };
};

/** Holds an account's key; that it cannot be read is told to people, or nobody would ever know. */
const holdKey = (
  account: string,
  source: KeySource,
  { clock, log, metrics }: AccountPorts,
): HeldKey =>
  createHeldKey({
    source,
    clock,
    onUnreadable(error) {
      metrics.count("AccountKeyUnreadable", { account });
      log.error("no request of the account can leave, its API key cannot be read", {
        account,
        reference: source.reference,
        errorMessage: error instanceof Error ? error.message : String(error),
      });
    },
  });

const reserveBy =
  (turns: Turns, clock: AccountPorts["clock"]): Account["ready"] =>
  async (signal, count) => {
    const turn = await turns.reserve({ maxWaitMs: READY_WAIT_MS, signal }, count);
    if (turn.kind !== "aborted") return turn;
    // Whoever asks has no time left: whoever comes next may ask at once.
    return { kind: "wait", until: clock.now(), because: "budget-spent" };
  };

const openAccount = (
  settings: AccountSettings,
  ports: AccountPorts,
  own: OwnProvider | undefined,
): Account => {
  const { name, maxPauseMs } = settings;
  const { clock, fetch, attemptTimeoutMs, metrics } = ports;
  const { keySource, baseUrl, paths, canList, settleMs } = providerOf(settings, ports, own);
  const turns = createTurns(ports, settings);
  return {
    name,
    settleMs,
    canList,
    pathOf: (operation) => paths[operation.id] ?? operation.path,
    ready: reserveBy(turns, clock),
    client: createAccountClient({
      account: name,
      provider: { baseUrl, paths, clock, fetch, attemptTimeoutMs, maxPauseMs },
      key: holdKey(name, keySource, ports),
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
