import type { CommandDeps } from "../deps.ts";
import { tasks } from "../task.ts";
import { checkTasks } from "./check-tasks.ts";
import { type RunMemory, splitKey } from "./due-entries.ts";

const MAX_ACCOUNTS_AT_ONCE = 20;
/**
 * How long the requests of one account may take in one round. An account that answers needs a second or
 * two.
 */
const REQUESTS_MS = 10_000;
/** The same while the limit of accounts is reached, and others may wait. */
const REQUESTS_WHEN_FULL_MS = 5_000;

interface Round {
  /** When the first request to the provider began, epoch ms; absent while the ledger is read. */
  requestsSince: number | undefined;
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

export const isTaskKey = (key: string): boolean => splitKey(key)[0] === tasks.kind;

/** The account of a task's due entry. An account name contains no slash. */
const accountOfKey = (key: string): string => splitKey(key)[1].split("/", 1).join();

const groupByAccount = (keys: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const byAccount = new Map<string, string[]>();
  for (const key of keys) {
    const account = accountOfKey(key);
    const ofAccount = byAccount.get(account) ?? [];
    ofAccount.push(key);
    byAccount.set(account, ofAccount);
  }
  return byAccount;
};

export type AccountRounds = ReturnType<typeof createAccountRounds>;

/**
 * Checks the due tasks of one run, all accounts side by side, so that a slow account delays no other.
 * @param signal aborts when the run must begin nothing new
 */
export const createAccountRounds = (deps: CommandDeps, memory: RunMemory, signal: AbortSignal) => {
  const rounds = new Map<string, Round>();
  /** When each account's last round began, epoch ms. */
  const begunAt = new Map<string, number>();
  const stopped = new AbortController();
  const run = AbortSignal.any([signal, stopped.signal]);
  const isFull = (): boolean => rounds.size >= MAX_ACCOUNTS_AT_ONCE;
  const ends = (): readonly Promise<void>[] => [...rounds.values()].map(({ ended }) => ended);

  const beginRound = (account: string, keys: readonly string[], isCrowded: boolean): void => {
    const over = new AbortController();
    const startRequests = (): AbortSignal => {
      round.requestsSince = deps.clock.now();
      return AbortSignal.any([run, over.signal]);
    };
    const check = async (): Promise<void> => {
      await checkTasks(deps, memory, { account, keys, isCrowded, run, startRequests });
      rounds.delete(account);
    };
    const round: Round = { requestsSince: undefined, over, ended: check() };
    rounds.set(account, round);
    begunAt.set(account, deps.clock.now());
  };

  return {
    /** Whether the task of this entry has to wait for the end of a round. */
    isHeld: (key: string): boolean => isFull() || rounds.has(accountOfKey(key)),
    isUnderWay: (): boolean => rounds.size > 0,
    /** Begins to check these tasks, all of an account together. Does not wait for the end. */
    begin(keys: readonly string[], isCrowded: boolean): void {
      const byAccount = groupByAccount(keys);
      const last = (account: string): number => begunAt.get(account) ?? 0;
      // The account that has waited longest comes first. Otherwise accounts in trouble, which are soon
      // due again, would always be served.
      for (const [account, ofAccount] of [...byAccount].sort(([a], [b]) => last(a) - last(b))) {
        if (!isFull() && !rounds.has(account)) beginRound(account, ofAccount, isCrowded);
      }
    },
    /** Aborts the requests of every account that has used up its time. */
    endLate(): void {
      const since = deps.clock.now() - (isFull() ? REQUESTS_WHEN_FULL_MS : REQUESTS_MS);
      for (const { requestsSince, over } of rounds.values()) {
        if (requestsSince !== undefined && requestsSince <= since) over.abort();
      }
    },
    /** Resolves when any round in progress is over. */
    nextEnd: () => Promise.race(ends()),
    /** Begins nothing new, and resolves when all rounds in progress are over. */
    stop(): Promise<unknown> {
      stopped.abort();
      return Promise.all(ends());
    },
  };
};
