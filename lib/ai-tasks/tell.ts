import pLimit from "p-limit";
import { aiTaskKey, aiTasks, tellAiTaskEnd, vanishAiTask } from "../ledger/ai-task.ts";
import type { OpenAiTask } from "../ledger/ai-watch.ts";
import { aiTaskEnded, aiTaskVanished } from "./events.ts";
import type { AiTaskRun } from "./run.ts";
import type { ShownAiTask } from "./shown-task.ts";

const MAX_PUBLISHED_AT_ONCE = 8;

/** What could not be published stays due, and the poller publishes it. */
const publish = async ({ deps }: AiTaskRun, key: string): Promise<void> => {
  try {
    await aiTasks.publish(deps, key);
  } catch (error) {
    deps.log.warn("event of an AI task not published, it stays due", {
      key,
      errorMessage: error instanceof Error ? error.message : String(error),
    });
  }
};

/** Records an end together with its event. @returns the record's key */
const recordEnd = async (
  { deps, accountName }: AiTaskRun,
  task: ShownAiTask,
  stopsPaging: boolean,
): Promise<string> => {
  const endedAt = deps.clock.now();
  const identity = { account: accountName, taskId: task.task_id };
  const key = aiTaskKey(identity);
  const event = aiTaskEnded(accountName, task, endedAt);
  const end = { ...identity, status: task.status, endedAt, stopsPaging };
  await aiTasks.change(deps.ledger, key, (stored) => tellAiTaskEnd(stored, end, event));
  return key;
};

/** Records that a task has ended, and tells of it. */
export const tellEnd = async (run: AiTaskRun, task: ShownAiTask): Promise<void> =>
  publish(run, await recordEnd(run, task, false));

/**
 * Records ends one after the other, in the order given, and tells of each as soon as it is recorded.
 * @param stopsPaging whether everything below the task is known when those before it are recorded
 */
export const tellEndsInOrder = async (
  run: AiTaskRun,
  ends: readonly ShownAiTask[],
  stopsPaging: (task: ShownAiTask) => boolean,
): Promise<void> => {
  const limit = pLimit(MAX_PUBLISHED_AT_ONCE);
  const told: Promise<void>[] = [];
  try {
    for (const task of ends) {
      const key = await recordEnd(run, task, stopsPaging(task));
      told.push(limit(() => publish(run, key)));
    }
  } finally {
    await Promise.all(told);
  }
};

/** Records that a followed task is gone, and tells of it. */
export const tellVanishing = async (
  run: AiTaskRun,
  { taskId, taskName }: OpenAiTask,
  missingSince: number,
): Promise<void> => {
  const { deps, accountName } = run;
  const vanishedAt = deps.clock.now();
  const identity = { account: accountName, taskId };
  const key = aiTaskKey(identity);
  const event = aiTaskVanished({ accountName, taskId, taskName, missingSince, time: vanishedAt });
  await aiTasks.change(deps.ledger, key, (stored) =>
    vanishAiTask(stored, { ...identity, missingSince, vanishedAt }, event),
  );
  await publish(run, key);
};
