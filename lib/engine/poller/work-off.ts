import { budgets } from "../../provider/rate-limit.ts";
import { commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { lanes } from "../lane.ts";
import { lookAtCommand, lookAtLane } from "../look.ts";
import {
  leaveForNow,
  MAX_AT_ONCE,
  PAUSE_AFTER_WORK_MS,
  type RunMemory,
  splitKey,
  within,
} from "./run-memory.ts";

/** Part of the poller's lease, which is renewed between two slices. */
const SLICE_MS = 2_000;

/** Handles a due ledger item, by its key without the kind. */
type DueHandler = (deps: CommandDeps, key: string) => Promise<void>;

export interface PollerDeps extends CommandDeps {
  /** By kind of record, for records that the engine does not know. */
  readonly dueHandlers: ReadonlyMap<string, DueHandler>;
}

const OWN_HANDLERS: PollerDeps["dueHandlers"] = new Map([
  [commands.kind, lookAtCommand],
  [lanes.kind, lookAtLane],
  [budgets.kind, budgets.publish],
]);

const handleDue = async (deps: PollerDeps, entryKey: string): Promise<void> => {
  const [kind, key] = splitKey(entryKey);
  const handle = OWN_HANDLERS.get(kind) ?? deps.dueHandlers.get(kind);
  if (!handle) throw new Error(`no handler for ledger items of kind ${kind}`);
  await handle(deps, key);
};

/** The due entries that are no tasks, as one run of the poller works them off. */
export interface EntryWork {
  /** Whether the entry is under way, or none can be begun because every place is taken. */
  isHeld(key: string): boolean;
  isUnderWay(): boolean;
  /**
   * Works off entries until all of them are done, or a slice of time is over. An operation that AWS
   * does not answer goes on beside the run, which so returns to the other accounts and to its lease.
   */
  workOff(keys: readonly string[]): Promise<void>;
  /** Resolves when any of those under way now is over. */
  nextEnd(): Promise<void>;
  /** Resolves when those under way now are over. */
  ended(): Promise<void>;
}

/** @param mayBegin whether the run may still begin something */
export const createEntryWork = (
  deps: PollerDeps,
  memory: RunMemory,
  mayBegin: () => boolean,
): EntryWork => {
  const underWay = new Map<string, Promise<void>>();

  const begin = (key: string): Promise<void> => {
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    const work = handleDue(deps, key)
      .catch((error) => leaveForNow(deps, memory, key, error))
      .finally(() => underWay.delete(key));
    underWay.set(key, work);
    return work;
  };

  return {
    isHeld: (key) => underWay.size >= MAX_AT_ONCE || underWay.has(key),
    isUnderWay: () => underWay.size > 0,
    async workOff(keys) {
      const sliceEndsAt = deps.clock.now() + SLICE_MS;
      const next = keys.values();
      const worker = async (): Promise<void> => {
        while (mayBegin() && deps.clock.now() < sliceEndsAt) {
          const { value: key, done } = next.next();
          if (done) return;
          await begin(key);
        }
      };
      const free = Math.max(0, MAX_AT_ONCE - underWay.size);
      await within(deps.clock, SLICE_MS, Promise.all(Array.from({ length: free }, worker)));
    },
    nextEnd: () => Promise.race(underWay.values()),
    async ended() {
      await Promise.all(underWay.values());
    },
  };
};
