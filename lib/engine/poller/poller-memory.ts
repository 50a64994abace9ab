import type { DueEntry } from "../../platform/ports/ledger.ts";
import { tasks } from "../task.ts";
import { type AccountTasks, noTasks } from "./open-tasks.ts";

/** Pause before this run tries an entry again that failed and stays due. */
export const PAUSE_AFTER_ERROR_MS = 5_000;
/**
 * Pause after an item that this version cannot read, which only people can change: the period of the schedule, so that
 * no run begins for it.
 */
export const PAUSE_AFTER_UNREADABLE_MS = 60_000;
/**
 * Pause after an entry was handled: the due index may lag behind, and nothing is due again so soon.
 */
export const PAUSE_AFTER_WORK_MS = 1_000;
/** The clock of another process may be so far from this one's. */
export const MAX_SKEW_MS = 5_000;

/**
 * What a process remembers between its runs of the poller, by the keys of entries. It is valid while no other
 * process has run the poller in between.
 */
export interface PollerMemory {
  /** Unique id of the memory, by which its process takes the lease. */
  readonly runner: string;
  /** Shard of the due index. */
  readonly shard: number;
  /** Due entries of everything except tasks, which are in `accounts`. */
  readonly others: Map<string, DueEntry>;
  /** Due and open tasks by account. */
  readonly accounts: Map<string, AccountTasks>;
  /**
   * Epoch ms before which the entry is not handled, because it was handled a moment ago, failed, or the
   * provider asked for a pause.
   */
  readonly notBefore: Map<string, number>;
  /** Due times of the entries that this run has handled. The due index may still show them. */
  readonly handled: Map<string, number>;
  /**
   * Whether the end of an open task may be in its command alone, because a run died, or a step failed or did not end.
   * Then an item is read with its command, which is a read unit more.
   */
  mayHideEnds: boolean;
  /** Whether something was handled since the last query. */
  hasNews: boolean;
  /** Instant of the last query, epoch ms. */
  queriedAt: number;
  /** Instant of the last query of the whole shard, epoch ms. */
  completeAt: number;
  /** Since when the end of a task has been known but not published, epoch ms. */
  readonly unpublishedSince: Map<string, number>;
  /** Instant of the wake signal that this process asked for last, by its own clock, epoch ms; 0: none. */
  wakeAt: number;
  /** When refused and long lists are tried again, epoch ms. */
  listsUntil: number;
  /**
   * What another process left: at `queriedAt` it knew all tasks that were due, and the first of them is to be
   * checked at `wakeAt`.
   */
  left: { readonly queriedAt?: number; readonly wakeAt?: number };
}

/** How long a refused or too long list is not asked for again. */
const LISTS_MS = 5 * 60_000;

/**
 * @param runner unique id
 * @param shard of the due index; default: 0
 */
export const createPollerMemory = (runner: string, shard = 0): PollerMemory => ({
  runner,
  shard,
  others: new Map(),
  accounts: new Map(),
  notBefore: new Map(),
  handled: new Map(),
  mayHideEnds: false,
  hasNews: false,
  queriedAt: 0,
  completeAt: 0,
  unpublishedSince: new Map(),
  wakeAt: 0,
  listsUntil: 0,
  left: {},
});

/** Forgets all entries and open tasks, because another process changes them. */
export const forgetEntries = (memory: PollerMemory): void => {
  memory.others.clear();
  memory.accounts.clear();
  memory.notBefore.clear();
};

/**
 * @param left the note of another process that ran last; undefined: this process ran last
 * @param hasDied whether the last run ended without a release of its lease, or left something half done
 */
export const beginRun = (
  memory: PollerMemory,
  now: number,
  { left, hasDied }: { readonly left: PollerMemory["left"] | undefined; readonly hasDied: boolean },
): void => {
  memory.handled.clear();
  memory.unpublishedSince.clear();
  if (left) {
    forgetEntries(memory);
    memory.left = left;
  }
  memory.mayHideEnds = hasDied;
  for (const account of memory.accounts.values()) account.nextCheckAt = undefined;
  if (now < memory.listsUntil) return;
  memory.listsUntil = now + LISTS_MS;
  for (const account of memory.accounts.values()) {
    account.refused.clear();
    account.pages = 1;
  }
};

export const splitKey = (key: string): readonly [kind: string, rest: string] => {
  const at = key.indexOf("#");
  return [key.slice(0, at), key.slice(at + 1)];
};

const isTaskKey = (key: string): boolean => key.startsWith(`${tasks.kind}#`);

/** The account of a task's due entry. An account name contains no slash. */
const accountOfKey = (key: string): string => splitKey(key)[1].split("/", 1).join();

/** What the run remembers of an account's tasks. */
export const tasksOf = ({ accounts }: PollerMemory, account: string): AccountTasks => {
  const known = accounts.get(account) ?? noTasks();
  accounts.set(account, known);
  return known;
};

/** Number of the due entries that the process remembers. */
export const entryCount = ({ others, accounts }: PollerMemory): number =>
  [...accounts.values()].reduce((sum, { due }) => sum + due.size, others.size);

/** Default of `manyEntries`. */
const MANY_ENTRIES = 100;
/** How long the entries of a whole query are completed by partial ones. */
const COMPLETE_MS = 60_000;
/**
 * How long before the last query a partial one begins. It finds each entry that was written since, although the clock
 * of its writer is 15 s late and the index lags, and entries that were due up to 30 s before their items (see
 * `DUE_SLACK_MS`).
 */
const OVERLAP_MS = 60_000;

/**
 * From which due time on the next query has to read, epoch ms; undefined: it reads the whole shard. A new entry is due
 * after its writing, with few exceptions, which the next whole query finds.
 * @param manyEntries with more entries than this, it reads only what may be new; default: 100
 */
export const nextQueryFrom = (
  memory: PollerMemory,
  now: number,
  manyEntries = MANY_ENTRIES,
): number | undefined =>
  now < memory.completeAt + COMPLETE_MS && entryCount(memory) > manyEntries
    ? memory.queriedAt - OVERLAP_MS
    : undefined;

const forget = ({ others, accounts, notBefore }: PollerMemory, { key }: DueEntry): void => {
  notBefore.delete(key);
  if (!isTaskKey(key)) {
    others.delete(key);
    return;
  }
  const account = accounts.get(accountOfKey(key));
  if (!account) return;
  account.due.delete(key);
  account.open.delete(key);
  account.nextCheckAt = undefined;
};

const remember = (memory: PollerMemory, entry: DueEntry): void => {
  if (!isTaskKey(entry.key)) {
    memory.others.set(entry.key, entry);
    return;
  }
  const account = tasksOf(memory, accountOfKey(entry.key));
  account.due.set(entry.key, entry);
  account.nextCheckAt = undefined;
};

/** All due entries that the process remembers. */
function* entriesOf({ others, accounts }: PollerMemory): Generator<DueEntry> {
  yield* others.values();
  for (const { due } of accounts.values()) yield* due.values();
}

/**
 * Takes the result of a query at `now`. Forgets what is no longer due, because it is done, or another process has
 * changed it.
 * @param from as the query had it; a partial query also forgets earlier entries that this run has handled
 */
export const takeEntries = (
  memory: PollerMemory,
  entries: readonly DueEntry[],
  { now, from = Number.NEGATIVE_INFINITY }: { readonly now: number; readonly from?: number },
): void => {
  const due = new Set(entries.map(({ key }) => key));
  const isGone = (entry: DueEntry): boolean =>
    !due.has(entry.key) && (entry.dueAt >= from || memory.handled.get(entry.key) === entry.dueAt);
  for (const entry of entriesOf(memory)) if (isGone(entry)) forget(memory, entry);
  if (from === Number.NEGATIVE_INFINITY) {
    // In the order of the query, the longest due first.
    memory.others.clear();
    for (const { due } of memory.accounts.values()) due.clear();
    memory.completeAt = now;
  }
  for (const entry of entries) remember(memory, entry);
  memory.queriedAt = now;
};

/** When this run may handle the entry, epoch ms. */
export const freeAt = ({ key, dueAt }: DueEntry, { notBefore }: PollerMemory): number =>
  Math.max(dueAt, notBefore.get(key) ?? 0);

/** When this run handles the entry, epoch ms; Infinity: it has done so. */
export const readyAt = (entry: DueEntry, memory: PollerMemory): number =>
  memory.handled.get(entry.key) === entry.dueAt ? Number.POSITIVE_INFINITY : freeAt(entry, memory);

/**
 * When the other process wakes the poller for a task that it knew, epoch ms; 0: it did not know the task. A process
 * with a late clock may have recorded a task after the query with a due time before it, so a task that was due
 * shortly before the query does not wait for a far wake signal.
 */
const wakeOfOther = (
  dueAt: number,
  { queriedAt = 0, wakeAt = 0 }: PollerMemory["left"],
): number => {
  if (dueAt > queriedAt) return 0;
  return dueAt > queriedAt - MAX_SKEW_MS ? Math.min(wakeAt, queriedAt + MAX_SKEW_MS) : wakeAt;
};

/** When an open task that no other run knows better is to be checked, epoch ms. */
const plannedAt = (
  { key, dueAt }: DueEntry,
  account: AccountTasks,
  { left }: PollerMemory,
): number =>
  // A new task waits for the next list of its account.
  account.open.get(key)?.checkAt ?? Math.max(account.nextListAt, wakeOfOther(dueAt, left));

/** When this run checks the task of this entry, epoch ms; Infinity: it has ended. */
export const checkAt = (entry: DueEntry, account: AccountTasks, memory: PollerMemory): number =>
  Math.max(readyAt(entry, memory), plannedAt(entry, account, memory));

/** When this run checks the first of an account's tasks, epoch ms; Infinity: none is left. */
export const nextCheckAt = (account: AccountTasks, memory: PollerMemory): number => {
  if (account.nextCheckAt === undefined) {
    let next = Number.POSITIVE_INFINITY;
    for (const entry of account.due.values())
      next = Math.min(next, checkAt(entry, account, memory));
    account.nextCheckAt = next;
  }
  return account.nextCheckAt;
};

/** Whether an end may still be in a command alone: then a task is left, or was not read with its command. */
export const maySkipEnds = ({ mayHideEnds, accounts, handled }: PollerMemory): boolean =>
  mayHideEnds &&
  [...accounts.values()].some(({ due, open }) =>
    [...due.values()].some(({ key, dueAt }) => !open.get(key)?.item && handled.get(key) !== dueAt),
  );

/** Notes that an entry was handled, so that this run does not handle it again. */
export const markHandled = (memory: PollerMemory, { key, dueAt }: DueEntry): void => {
  memory.handled.set(key, dueAt);
  memory.hasNews = true;
};
