import type { CommandDeps } from "../deps.ts";
import { tasks } from "../task.ts";
import { lookRound } from "./check-tasks.ts";
import { type RunMemory, splitKey } from "./due-entries.ts";

const MAX_ACCOUNTS_AT_ONCE = 20;
/** How long an account may be asked in one round: one that answers needs a second or two. */
const ASKING_MS = 10_000;
/** The same while every place is taken, and others may wait for one. */
const ASKING_WHEN_FULL_MS = 5_000;

/** The accounts whose tasks one run of the poller looks at now, side by side. */
export interface AccountRounds {
  /** Whether the task of this entry has to wait for the end of a round. */
  isHeld(key: string): boolean;
  areAtWork(): boolean;
  /** Begins to look at these tasks, at all of an account together. Does not wait for it. */
  begin(keys: readonly string[], isCrowded: boolean): void;
  /** Ends the asking of every account whose time is over. */
  endLate(): void;
  /** Resolves when any of those at work now is over. */
  nextEnd(): Promise<void>;
  /** Begins nothing new, and resolves when what was begun is over. */
  stop(): Promise<void>;
}

interface Round {
  /** When the asking began, epoch ms; absent while the ledger is read. */
  askedSince: number | undefined;
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

export const isTaskKey = (key: string): boolean => splitKey(key)[0] === tasks.kind;

/** Names of accounts hold no slash. */
const accountOfKey = (key: string): string => splitKey(key)[1].split("/", 1).join();

const groupByAccount = (keys: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const byAccount = new Map<string, string[]>();
  for (const key of keys) {
    const account = accountOfKey(key);
    const ofAccount = byAccount.get(account);
    if (ofAccount) ofAccount.push(key);
    else byAccount.set(account, [key]);
  }
  return byAccount;
};

/** @param signal of the run */
export const createAccountRounds = (
  deps: CommandDeps,
  memory: RunMemory,
  signal: AbortSignal,
): AccountRounds => {
  const rounds = new Map<string, Round>();
  /** When each account's last round began, epoch ms. */
  const begunAt = new Map<string, number>();
  const stopped = new AbortController();
  const run = AbortSignal.any([signal, stopped.signal]);
  const isFull = (): boolean => rounds.size >= MAX_ACCOUNTS_AT_ONCE;

  const beginRound = (account: string, keys: readonly string[], isCrowded: boolean): void => {
    const over = new AbortController();
    const askFor = (): AbortSignal => {
      round.askedSince = deps.clock.now();
      return AbortSignal.any([run, over.signal]);
    };
    const look = async (): Promise<void> => {
      await lookRound(deps, memory, { account, keys, isCrowded }, { run, askFor });
      rounds.delete(account);
    };
    const round: Round = { askedSince: undefined, over, ended: look() };
    rounds.set(account, round);
    begunAt.set(account, deps.clock.now());
  };

  return {
    isHeld: (key) => isFull() || rounds.has(accountOfKey(key)),
    areAtWork: () => rounds.size > 0,
    begin(keys, isCrowded) {
      const byAccount = groupByAccount(keys);
      const last = (account: string): number => begunAt.get(account) ?? 0;
      // Whoever has waited longest, or those in trouble, soon due again, would keep every place.
      for (const [account, ofAccount] of [...byAccount].sort(([a], [b]) => last(a) - last(b))) {
        if (!isFull() && !rounds.has(account)) beginRound(account, ofAccount, isCrowded);
      }
    },
    endLate() {
      const since = deps.clock.now() - (isFull() ? ASKING_WHEN_FULL_MS : ASKING_MS);
      for (const { askedSince, over } of rounds.values()) {
        if (askedSince !== undefined && askedSince <= since) over.abort();
      }
    },
    nextEnd: () => Promise.race([...rounds.values()].map(({ ended }) => ended)),
    async stop() {
      stopped.abort();
      await Promise.all([...rounds.values()].map(({ ended }) => ended));
    },
  };
};
