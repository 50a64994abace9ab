import type { Clock } from "../../platform/ports/clock.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import { rateLimits } from "../../provider/rate-limit.ts";
import { checkCommand, checkLane } from "../advance.ts";
import { commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { errorFields, keyFields } from "../deps.ts";
import { lanes } from "../lane.ts";
import { tasks } from "../task.ts";
import { type AccountTasks, noTasks } from "./open-tasks.ts";

/** Pause before this run tries an entry again that failed and stays due. */
const PAUSE_AFTER_ERROR_MS = 5_000;
/**
 * Pause after an entry was handled: the due index may lag behind, and nothing is due again so soon.
 */
export const PAUSE_AFTER_WORK_MS = 1_000;
const MAX_AT_ONCE = 8;
/** Part of the poller's lease, which is renewed between two slices. */
const SLICE_MS = 2_000;

/** Handles a due ledger item, by its key without the kind. */
type DueHandler = (deps: CommandDeps, key: string) => Promise<void>;

export interface PollerDeps extends CommandDeps {
  /** Handlers by kind of record, for records outside the engine. */
  readonly dueHandlers: ReadonlyMap<string, DueHandler>;
}

const OWN_HANDLERS: PollerDeps["dueHandlers"] = new Map([
  [commands.kind, checkCommand],
  [lanes.kind, checkLane],
  [rateLimits.kind, rateLimits.publish],
]);

/**
 * What a process remembers between its runs of the poller, by the keys of entries. It is valid while no other
 * process has run the poller in between.
 */
export interface PollerMemory {
  /** Unique id of the memory, by which its process takes the lease. */
  readonly runner: string;
  /** Shard of the due index. */
  readonly shard: number;
  /**
   * Epoch ms before which the entry is not handled, because it was handled a moment ago, failed, or the
   * provider asked for a pause.
   */
  readonly notBefore: Map<string, number>;
  /** Due times of the entries that this run has handled. The due index may still show them. */
  readonly handled: Map<string, number>;
  /** Whether something was handled since the last query. */
  hasNews: boolean;
  /** Instant of the last query, epoch ms. */
  queriedAt: number;
  /** Since when the end of a task has been known but not published, epoch ms. */
  readonly unpublishedSince: Map<string, number>;
  /** Open tasks by account. */
  readonly accounts: Map<string, AccountTasks>;
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
  notBefore: new Map(),
  handled: new Map(),
  hasNews: false,
  queriedAt: 0,
  unpublishedSince: new Map(),
  accounts: new Map(),
  wakeAt: 0,
  listsUntil: 0,
  left: {},
});

/** @param left the note of another process that ran last; undefined: this process ran last */
export const beginRun = (
  memory: PollerMemory,
  now: number,
  left: PollerMemory["left"] | undefined,
): void => {
  memory.handled.clear();
  memory.unpublishedSince.clear();
  if (left) {
    memory.accounts.clear();
    memory.notBefore.clear();
    memory.left = left;
  }
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

export const isTaskKey = (key: string): boolean => key.startsWith(`${tasks.kind}#`);

/** The account of a task's due entry. An account name contains no slash. */
export const accountOfKey = (key: string): string => splitKey(key)[1].split("/", 1).join();

/** What the run remembers of an account's tasks. */
export const tasksOf = ({ accounts }: PollerMemory, account: string): AccountTasks => {
  const known = accounts.get(account) ?? noTasks();
  accounts.set(account, known);
  return known;
};

/** When this run may handle the entry, epoch ms. */
export const freeAt = ({ key, dueAt }: DueEntry, { notBefore }: PollerMemory): number =>
  Math.max(dueAt, notBefore.get(key) ?? 0);

/** When an open task that no other run knows better is to be checked, epoch ms. */
const plannedAt = ({ key, dueAt }: DueEntry, { accounts, left }: PollerMemory): number => {
  const account = accounts.get(accountOfKey(key));
  const known = account?.open.get(key)?.checkAt;
  if (known !== undefined) return known;
  const { queriedAt = 0, wakeAt = 0 } = left;
  // A new task waits for the next list of its account.
  return Math.max(account?.nextListAt ?? 0, dueAt <= queriedAt ? wakeAt : 0);
};

/** When this run handles the entry, epoch ms; Infinity: it has done so. */
export const readyAt = (entry: DueEntry, memory: PollerMemory): number => {
  if (memory.handled.get(entry.key) === entry.dueAt) return Number.POSITIVE_INFINITY;
  const free = freeAt(entry, memory);
  return isTaskKey(entry.key) ? Math.max(free, plannedAt(entry, memory)) : free;
};

/** Forgets what is no longer due, because it is done, or another process has changed it. */
export const keepDue = (
  { accounts, notBefore }: PollerMemory,
  entries: readonly DueEntry[],
): void => {
  const due = new Set(entries.map(({ key }) => key));
  for (const remembered of [notBefore, ...[...accounts.values()].map(({ open }) => open)]) {
    for (const key of remembered.keys()) if (!due.has(key)) remembered.delete(key);
  }
};

/** Notes that an entry was handled, so that this run does not handle it again. */
export const markHandled = (memory: PollerMemory, { key, dueAt }: DueEntry): void => {
  memory.handled.set(key, dueAt);
  memory.hasNews = true;
};

/** Logs and counts a failed entry, which stays due. An alarm reports entries that keep failing. */
export const leaveDue = (
  deps: CommandDeps,
  memory: PollerMemory,
  key: string,
  error: unknown,
): void => {
  memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_ERROR_MS);
  const [kind, rest] = splitKey(key);
  const log = kind === commands.kind ? deps.log.with(keyFields(rest)) : deps.log;
  log.warn("due entry not handled, it stays due", { key, ...errorFields(error) });
  deps.metrics.count("DueEntryLeft");
};

/** Waits for the work, but no longer than `durationMs`. The work itself continues. */
export const within = async (
  clock: Clock,
  durationMs: number,
  work: Promise<unknown>,
): Promise<void> => {
  const endsAt = clock.now() + durationMs;
  const done = new AbortController();
  const asleep = clock.sleep(durationMs, done.signal);
  await Promise.race([work, asleep]);
  done.abort("done");
  await asleep;
  // A process that stops ends its sleeps early and closes the ledger next, so the work has to end
  // first.
  if (clock.now() < endsAt) await work;
};

const handleDue = async (deps: PollerDeps, entryKey: string): Promise<void> => {
  const [kind, key] = splitKey(entryKey);
  const handle = OWN_HANDLERS.get(kind) ?? deps.dueHandlers.get(kind);
  if (!handle) throw new Error(`no handler for ledger items of kind ${kind}`);
  await handle(deps, key);
};

export type EntryWork = ReturnType<typeof createEntryWork>;

/**
 * Handles the due entries of one run, except tasks.
 * @param mayBegin whether the run may still begin something
 */
export const createEntryWork = (
  deps: PollerDeps,
  memory: PollerMemory,
  mayBegin: () => boolean,
) => {
  const underWay = new Map<string, Promise<void>>();

  const begin = (entry: DueEntry): Promise<void> => {
    const { key } = entry;
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    const work = handleDue(deps, key)
      .then(() => markHandled(memory, entry))
      .catch((error) => leaveDue(deps, memory, key, error))
      .finally(() => underWay.delete(key));
    underWay.set(key, work);
    return work;
  };

  return {
    /** Whether the entry is in progress, or none can begin because the limit is reached. */
    isHeld: (key: string): boolean => underWay.size >= MAX_AT_ONCE || underWay.has(key),
    isUnderWay: (): boolean => underWay.size > 0,
    /**
     * Handles entries until all of them are done, or a slice of time is over. A call that AWS does not
     * answer continues beside the run, so that the run can serve other accounts and renew its lease.
     */
    async handle(entries: readonly DueEntry[]): Promise<void> {
      const sliceEndsAt = deps.clock.now() + SLICE_MS;
      const next = entries.values();
      const worker = async (): Promise<void> => {
        while (mayBegin() && deps.clock.now() < sliceEndsAt) {
          const { value: entry, done } = next.next();
          if (done) return;
          await begin(entry);
        }
      };
      const free = Math.max(0, MAX_AT_ONCE - underWay.size);
      await within(deps.clock, SLICE_MS, Promise.all(Array.from({ length: free }, worker)));
    },
    /** Resolves when any entry in progress is done. */
    nextEnd: () => Promise.race(underWay.values()),
    /** Resolves when all entries in progress are done. */
    allEnded: () => Promise.all(underWay.values()),
  };
};
