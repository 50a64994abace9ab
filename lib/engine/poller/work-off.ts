import { aiTasks } from "../../jobs/ai-tasks/ai-task.ts";
import { aiWatches } from "../../jobs/ai-tasks/ai-watch.ts";
import { priceItems, priceRuns } from "../../jobs/prices/price.ts";
import { thresholdSyncs } from "../../jobs/thresholds/threshold-sync.ts";
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

/** Records of the standing jobs, and budgets, are due while an event of theirs is not published. */
const OUTBOXES = new Map(
  [thresholdSyncs, priceItems, priceRuns, aiTasks, aiWatches, budgets].map(({ kind, publish }) => [
    kind,
    publish,
  ]),
);

const workOn = async (deps: CommandDeps, entryKey: string): Promise<void> => {
  const [kind, key] = splitKey(entryKey);
  const publishOutbox = OUTBOXES.get(kind);
  if (publishOutbox) return publishOutbox(deps, key);
  if (kind === commands.kind) return lookAtCommand(deps, key);
  if (kind === lanes.kind) return lookAtLane(deps, key);
  throw new Error(`nobody looks after ledger items of kind ${kind}`);
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
  deps: CommandDeps,
  memory: RunMemory,
  mayBegin: () => boolean,
): EntryWork => {
  const underWay = new Map<string, Promise<void>>();

  const begin = (key: string): Promise<void> => {
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    const work = workOn(deps, key)
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
