import pLimit from "p-limit";
import { aiTaskKey, aiTasks, noteAiTaskEnd } from "../ledger/ai-task.ts";
import { aiWatches, completeBaseline } from "../ledger/ai-watch.ts";
import type { Sighting } from "./read-list.ts";
import type { AiTaskRun } from "./run.ts";

const MAX_WRITES_AT_ONCE = 16;

/**
 * Records without an event what has ended before the account was watched, then that the baseline is
 * complete. One that was cut off is taken again.
 */
export const recordBaseline = async (
  run: AiTaskRun,
  ended: readonly Sighting[],
  stopsPaging: (sighting: Sighting) => boolean,
): Promise<void> => {
  const { ledger, clock } = run.deps;
  const endedAt = clock.now();
  const limit = pLimit(MAX_WRITES_AT_ONCE);
  await limit.map(ended, (sighting) => {
    const { task_id: taskId, status } = sighting.task;
    const identity = { account: run.accountName, taskId };
    const end = { ...identity, status, endedAt, stopsPaging: stopsPaging(sighting) };
    return aiTasks.change(ledger, aiTaskKey(identity), (stored) => noteAiTaskEnd(stored, end));
  });
  await aiWatches.change(ledger, run.accountName, (watch) => completeBaseline(watch, run.taskName));
};
