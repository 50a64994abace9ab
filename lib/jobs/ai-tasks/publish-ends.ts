import { clipped } from "../../events/event.ts";
import { aiTaskKey, aiTasks, noteAiTaskEnd, tellAiTaskEnd, vanishAiTask } from "./ai-task.ts";
import { acceptList, aiWatches, type OpenAiTask, refuseList } from "./ai-watch.ts";
import { aiTaskEnded, aiTaskListAccepted, aiTaskListRefused, aiTaskVanished } from "./events.ts";
import { type AiTaskRun, changeWatch } from "./run.ts";
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

/** Records and publishes that the provider refuses the list, unless an earlier run has done so. */
export const tellListRefused = async (
  run: AiTaskRun,
  { status, problem }: { readonly status: number; readonly problem: string },
): Promise<void> => {
  if (run.watch.list?.state === "refused") return;
  const { deps, accountName: account } = run;
  const refusal = { status, problem: clipped(problem) };
  const now = deps.clock.now();
  await changeWatch(run, (watch) =>
    refuseList(watch, now, (since) => aiTaskListRefused(account, since, refusal)),
  );
  deps.log.warn("list of AI tasks refused, asked for again at each run", {
    account,
    status,
    errorMessage: problem,
  });
  await aiWatches.publishOrLeave(deps, account);
};

/** Records and publishes that the provider shows the list again, if it was refused before. */
export const tellListAccepted = async (run: AiTaskRun): Promise<void> => {
  if (run.watch.list?.state !== "refused") return;
  const { deps, accountName: account } = run;
  const now = deps.clock.now();
  let isNew = false;
  await changeWatch(run, (watch) => {
    isNew = watch.list?.state === "refused";
    return acceptList(watch, now, (since, refusedSince) =>
      aiTaskListAccepted(account, since, refusedSince),
    );
  });
  if (isNew) deps.log.info("list of AI tasks shown again", { account });
  await aiWatches.publishOrLeave(deps, account);
};
