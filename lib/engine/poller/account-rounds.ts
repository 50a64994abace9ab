import type { DueEntry } from "../../platform/ports/ledger.ts";
import type { CommandDeps } from "../deps.ts";
import { type AccountCheck, checkTasks } from "./check-tasks.ts";
import { checkAt, freeAt, nextCheckAt, type PollerMemory, tasksOf } from "./poller-memory.ts";
import { isListWorthIt } from "./read-tasks.ts";

const MAX_ACCOUNTS_AT_ONCE = 20;
/**
 * How long the requests of one account may take in one round. An account that answers needs a second or
 * two.
 */
const REQUESTS_MS = 10_000;
/** The same while the limit of accounts is reached, and others may wait. */
const REQUESTS_WHEN_FULL_MS = 5_000;
/** Additional time for each page of the account's last list: 100,000 open tasks have a hundred. */
const REQUESTS_OF_PAGE_MS = 300;

interface Round {
  /** When the first request to the provider began, epoch ms; absent while the ledger is read. */
  requestsSince: number | undefined;
  readonly over: AbortController;
  readonly ended: Promise<void>;
}

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
  /** Made for the first round, because most runs have none. */
  let anyRound: AbortSignal | undefined;
  const endOfRun = (): AbortSignal => {
    anyRound ??= AbortSignal.any([signal, stopped.signal]);
    return anyRound;
  };
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
    const run = endOfRun();
    const startRequests = (): AbortSignal => {
      round.requestsSince = deps.clock.now();
      return AbortSignal.any([run, over.signal]);
    };
    const check = async (): Promise<void> => {
      await checkTasks(deps, memory, { account, entries, run, startRequests, claim });
      tasksOf(memory, account).nextCheckAt = undefined;
      rounds.delete(account);
    };
    const round: Round = { requestsSince: undefined, over, ended: check() };
    rounds.set(account, round);
    begunAt.set(account, deps.clock.now());
  };

  /** The due tasks of an account that may be checked now; undefined: none is to be checked. */
  const dueTasksOf = (name: string): readonly DueEntry[] | undefined => {
    const now = deps.clock.now();
    const account = tasksOf(memory, name);
    const due = [...account.due.values()];
    const ready = due.filter((entry) => checkAt(entry, account, memory) <= now);
    if (ready.length === 0) return undefined;
    const free = due.filter((entry) => freeAt(entry, memory) <= now);
    return isServedByList(name, free.length) ? free : withSameTasks(ready, free);
  };

  return {
    isUnderWay: (): boolean => rounds.size > 0,
    /** When the next round of an account has to begin, epoch ms; those in progress are left out. */
    nextBegin(): number {
      let next = Number.POSITIVE_INFINITY;
      if (isFull()) return next;
      for (const [name, account] of memory.accounts) {
        if (!rounds.has(name)) next = Math.min(next, nextCheckAt(account, memory));
      }
      return next;
    },
    /** Begins to check the accounts with a task to be checked now. Does not wait for the end. */
    begin(): void {
      const now = deps.clock.now();
      const last = (account: string): number => begunAt.get(account) ?? 0;
      // The account that has waited longest comes first. Otherwise accounts in trouble, which are soon
      // due again, would always be served.
      const ready = [...memory.accounts]
        .filter(([name, account]) => !rounds.has(name) && nextCheckAt(account, memory) <= now)
        .sort(([a], [b]) => last(a) - last(b));
      for (const [name] of ready) {
        if (isFull()) return;
        const due = dueTasksOf(name);
        if (due) beginRound(name, due);
      }
    },
    /** Aborts the requests of every account that has used up its time. */
    endLate(): void {
      const now = deps.clock.now();
      const allowedMs = isFull() ? REQUESTS_WHEN_FULL_MS : REQUESTS_MS;
      for (const [name, { requestsSince = now, over }] of rounds) {
        const { pages } = tasksOf(memory, name);
        if (now - requestsSince >= allowedMs + (pages - 1) * REQUESTS_OF_PAGE_MS) over.abort();
      }
    },
    /** Resolves when any round in progress is over. */
    nextEnd: () => Promise.race(ends()),
    /** Begins nothing new, and resolves when all rounds in progress are over. */
    stop(): Promise<unknown> {
      if (rounds.size > 0) stopped.abort();
      return Promise.all(ends());
    },
  };
};
