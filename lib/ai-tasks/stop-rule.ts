import { aiTaskPages } from "./ask.ts";
import type { News } from "./news.ts";
import type { Reading } from "./read-list.ts";
import type { AiTaskRun } from "./run.ts";
import type { ShownAiTask } from "./shown-task.ts";

/**
 * Whether no task can have been missed. When a task is removed while several pages are read, one
 * moves up to a page that was read already, unseen; so all that was seen must be there again.
 */
const isUnmoved = async (run: AiTaskRun, { sightings, pages }: Reading): Promise<boolean> => {
  if (pages <= 1) return true;
  const awaited = new Set(sightings.map(({ task }) => task.task_id));
  let readAgain = 0;
  for await (const tasks of aiTaskPages(run)) {
    readAgain += 1;
    for (const { task_id } of tasks) awaited.delete(task_id);
    // New tasks push the others down, but hardly by more than a page.
    if (awaited.size === 0 || readAgain > pages) break;
  }
  return awaited.size === 0;
};

/** Only what has succeeded was certainly started; what was not stands above all that was, for ever. */
const HAS_BEEN_STARTED = "SUCCESS";

/**
 * Which of the ends may stop later runs. In doubt none, which costs them requests only: then they
 * read down to where an earlier run has stopped.
 */
export const stopRule = async (
  run: AiTaskRun,
  reading: Reading,
  { ended }: News,
): Promise<(task: ShownAiTask) => boolean> => {
  const mayStop = ({ status }: ShownAiTask) => status === HAS_BEEN_STARTED;
  if (!ended.some(({ task }) => mayStop(task))) return () => false;
  const isCertain = await isUnmoved(run, reading).catch((error: unknown) => {
    run.deps.log.warn("list of AI tasks not read a second time", {
      account: run.accountName,
      errorMessage: error instanceof Error ? error.message : String(error),
    });
    return false;
  });
  return isCertain ? mayStop : () => false;
};
