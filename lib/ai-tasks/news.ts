import type { OpenAiTask } from "../ledger/ai-watch.ts";
import type { Reading, Sighting } from "./read-list.ts";
import { hasEnded, type ShownAiTask, taskNameOf } from "./shown-task.ts";

/** What the list shows that was not known, the oldest first. */
export interface News {
  readonly toFollow: readonly OpenAiTask[];
  readonly ended: readonly Sighting[];
}

const openTaskOf = (task: ShownAiTask): OpenAiTask => {
  const taskName = taskNameOf(task);
  return { taskId: task.task_id, ...(taskName !== undefined && { taskName }) };
};

/**
 * A baseline tells of nothing. The end of a task that was known to be at work is left to the next
 * run, and so is the end of one that had vanished: it is followed again.
 */
export const newsOf = ({ sightings }: Reading, isBaseline: boolean): News => {
  const news = sightings.filter(({ recorded }) => recorded?.kind !== "ended").toReversed();
  const isNew = (sighting: Sighting) => !sighting.isFollowed && sighting.recorded === undefined;
  const isEnd = (sighting: Sighting) => hasEnded(sighting.task) && (!isBaseline || isNew(sighting));
  return {
    toFollow: news
      .filter((sighting) => !sighting.isFollowed && !isEnd(sighting))
      .map(({ task }) => openTaskOf(task)),
    ended: news.filter(isEnd),
  };
};
