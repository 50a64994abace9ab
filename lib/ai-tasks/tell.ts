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
export const tellEnd = async (run: AiTaskRun, data: AiTaskEnd): Promise<void> => {
  const { deps, accountName } = run;
  const endedAt = deps.clock.now();
  const identity = { account: accountName, taskId: data.taskId };
  const key = aiTaskKey(identity);
  const end = { ...identity, status: data.status, endedAt };
  const event = aiTaskEnded(accountName, data, endedAt);
  await aiTasks.change(deps.ledger, key, (stored) => tellAiTaskEnd(stored, end, event));
  await publish(run, key);
};

/** Records that a followed task is gone together with its event, and tells of it. */
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
