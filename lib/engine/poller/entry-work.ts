import { isUnreadable } from "../../ledger/record.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import { rateLimits } from "../../provider/rate-limit.ts";
import { checkCommand, checkLane } from "../advance.ts";
import { commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { errorFields, keyFields } from "../deps.ts";
import { lanes } from "../lane.ts";
import { tasks } from "../task.ts";
import {
  markHandled,
  PAUSE_AFTER_ERROR_MS,
  PAUSE_AFTER_UNREADABLE_MS,
  PAUSE_AFTER_WORK_MS,
  type PollerMemory,
  splitKey,
} from "./poller-memory.ts";

const MAX_AT_ONCE = 8;
/** Part of the poller's lease, which is renewed between two slices. */
const SLICE_MS = 2_000;

/** Handles a due ledger item, by its key without the kind. */
type DueHandler = (deps: CommandDeps, key: string) => Promise<void>;

export interface PollerDeps extends CommandDeps {
  /** Handlers by kind of record, for records outside the engine. */
  readonly dueHandlers: ReadonlyMap<string, DueHandler>;
  /** With more due entries than this, a run queries only what may be new; default: 100. */
  readonly manyEntries?: number | undefined;
}

const OWN_HANDLERS: PollerDeps["dueHandlers"] = new Map([
  [commands.kind, checkCommand],
  [lanes.kind, checkLane],
  [rateLimits.kind, rateLimits.publish],
]);

/** Logs and counts a failed entry, which stays due. An alarm reports entries that keep failing. */
export const leaveDue = (
  deps: CommandDeps,
  memory: PollerMemory,
  key: string,
  error: unknown,
): void => {
  const pauseMs = isUnreadable(error) ? PAUSE_AFTER_UNREADABLE_MS : PAUSE_AFTER_ERROR_MS;
  memory.notBefore.set(key, deps.clock.now() + pauseMs);
  const [kind, rest] = splitKey(key);
  if (kind === tasks.kind) memory.mayHideEnds = true;
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
