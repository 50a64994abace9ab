import type { DueEntry } from "../../platform/ports/ledger.ts";
import type { CommandDeps } from "../deps.ts";
import { type AccountCheck, checkTasks } from "./check-tasks.ts";
import { accountOfKey, type PollerMemory, tasksOf } from "./due-entries.ts";
import { isListWorthIt } from "./read-tasks.ts";

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

const groupByAccount = (entries: readonly DueEntry[]): ReadonlyMap<string, readonly DueEntry[]> => {
  const byAccount = new Map<string, DueEntry[]>();
  for (const entry of entries) {
    const account = accountOfKey(entry.key);
    const ofAccount = byAccount.get(account) ?? [];
    ofAccount.push(entry);
    byAccount.set(account, ofAccount);
  }
  return byAccount;
};

/** The id of the task of a due entry. */
const taskIdOf = ({ key }: DueEntry): string | undefined => key.split("/", 2)[1];

/** Adds the entries of other commands that wait for the same tasks: one read serves all. */
const withSameTasks = (
  ready: readonly DueEntry[],
  free: readonly DueEntry[],
): readonly DueEntry[] => {
  const ids = new Set(ready.map(taskIdOf));
  return free.filter((entry) => ids.has(taskIdOf(entry)));
};

export type AccountRounds = ReturnType<typeof createAccountRounds>;

/**
 * Checks the due tasks of one run, all accounts side by side, so that a slow account delays no other. `signal` aborts
 * when the run must begin nothing new.
 */
export const createAccountRounds = (
  deps: CommandDeps,
  memory: PollerMemory,
  { signal, claim }: { readonly signal: AbortSignal } & Pick<AccountCheck, "claim">,
) => {
  const rounds = new Map<string, Round>();
  /** When each account's last round began, epoch ms. */
  const begunAt = new Map<string, number>();
  const stopped = new AbortController();
  const run = AbortSignal.any([signal, stopped.signal]);
  const isFull = (): boolean => rounds.size >= MAX_ACCOUNTS_AT_ONCE;
  const ends = (): readonly Promise<void>[] => [...rounds.values()].map(({ ended }) => ended);

  const isServedByList = (name: string, taskCount: number): boolean => {
    const account = deps.accountOf(name);
    return (
      account !== undefined &&
      isListWorthIt(account, taskCount, tasksOf(memory, name), deps.clock.now())
    );
  };

  const beginRound = (account: string, entries: readonly DueEntry[]): void => {
    const over = new AbortController();
    const startRequests = (): AbortSignal => {
      round.requestsSince = deps.clock.now();
      return AbortSignal.any([run, over.signal]);
    };
    const check = async (): Promise<void> => {
      await checkTasks(deps, memory, { account, entries, run, startRequests, claim });
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
    /**
     * Begins to check the accounts with a ready task. Does not wait for the end.
     * @param ready tasks with a check to be made now
     * @param free all tasks that may be checked now; one list serves all of an account
     */
    begin(ready: readonly DueEntry[], free: readonly DueEntry[]): void {
      const byAccount = groupByAccount(ready);
      const freeByAccount = groupByAccount(free);
      const last = (account: string): number => begunAt.get(account) ?? 0;
      // The account that has waited longest comes first. Otherwise accounts in trouble, which are soon
      // due again, would always be served.
      for (const [account, ofAccount] of [...byAccount].sort(([a], [b]) => last(a) - last(b))) {
        if (isFull() || rounds.has(account)) continue;
        const all = freeByAccount.get(account) ?? ofAccount;
        beginRound(
          account,
          isServedByList(account, all.length) ? all : withSameTasks(ofAccount, all),
        );
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
