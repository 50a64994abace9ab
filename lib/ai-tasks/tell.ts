import {
  aiTaskKey,
  aiTasks,
  noteAiTaskEnd,
  tellAiTaskEnd,
  vanishAiTask,
} from "../ledger/ai-task.ts";
import type { OpenAiTask } from "../ledger/ai-watch.ts";
import { aiTaskEnded, aiTaskVanished } from "./events.ts";
import type { AiTaskRun } from "./run.ts";
import type { AiTaskEnd } from "./shown-task.ts";

/** Records an end of which nobody is told. */
export const noteEnd = async (
  { deps, accountName }: AiTaskRun,
  { taskId, status }: Pick<AiTaskEnd, "taskId" | "status">,
): Promise<void> => {
  const identity = { account: accountName, taskId };
  const end = { ...identity, status, endedAt: deps.clock.now() };
  await aiTasks.change(deps.ledger, aiTaskKey(identity), (stored) => noteAiTaskEnd(stored, end));
};

/** Records an end together with its event, and tells of it. */
export const tellEnd = async ({ deps, accountName }: AiTaskRun, data: AiTaskEnd): Promise<void> => {
  const endedAt = deps.clock.now();
  const identity = { account: accountName, taskId: data.taskId };
  const key = aiTaskKey(identity);
  const end = { ...identity, status: data.status, endedAt };
  const event = aiTaskEnded(accountName, data, endedAt);
  await aiTasks.change(deps.ledger, key, (stored) => tellAiTaskEnd(stored, end, event));
  await aiTasks.publishOrLeave(deps, key);
};

/** Records that a followed task is gone together with its event, and tells of it. */
export const tellVanishing = async (
  { deps, accountName }: AiTaskRun,
  { taskId, taskName }: OpenAiTask,
  missingSince: number,
): Promise<void> => {
  const vanishedAt = deps.clock.now();
  const identity = { account: accountName, taskId };
  const key = aiTaskKey(identity);
  const event = aiTaskVanished({ accountName, taskId, taskName, missingSince, time: vanishedAt });
  await aiTasks.change(deps.ledger, key, (stored) =>
    vanishAiTask(stored, { ...identity, missingSince, vanishedAt }, event),
  );
  await aiTasks.publishOrLeave(deps, key);
};
