import pLimit from "p-limit";
import { type AiTask, aiTaskKey, aiTasks } from "../ledger/ai-task.ts";
import type { OpenAiTask } from "../ledger/ai-watch.ts";
import { aiTaskPages } from "./ask.ts";
import type { AiTaskRun } from "./run.ts";
import type { ShownAiTask } from "./shown-task.ts";

const MAX_LEDGER_READS_AT_ONCE = 16;

/** A task on a page, and what was known of it before. */
export interface Sighting {
  readonly task: ShownAiTask;
  /** Whether it is among the tasks at work that are followed. */
  readonly isFollowed: boolean;
  /** As it was recorded when it was over, or gone. */
  readonly recorded: AiTask["state"] | undefined;
}

export interface Reading {
  /** In the order of the list, the newest first. */
  readonly sightings: readonly Sighting[];
  readonly pages: number;
}

const isKnown = ({ isFollowed, recorded }: Sighting): boolean =>
  isFollowed || recorded?.kind === "ended";

/**
 * Whether all that follows in the list is known. That every task of the page is known does not say
 * so: tasks that wait or were started late stand above others that nobody has seen yet.
 */
const mayStopAfter = (page: readonly Sighting[]): boolean =>
  page.every(isKnown) &&
  page.some(({ recorded }) => recorded?.kind === "ended" && recorded.stopsPaging);

/**
 * Reads the list up to the page from which on everything is known, or, for a baseline, all of it.
 * A task that was shown twice is as it was shown last.
 * @throws ProviderError when a page could not be read
 */
export const readToKnown = async (
  run: AiTaskRun,
  { followed, isBaseline }: { followed: readonly OpenAiTask[]; isBaseline: boolean },
): Promise<Reading> => {
  const { ledger } = run.deps;
  const followedIds = new Set(followed.map(({ taskId }) => taskId));
  const limit = pLimit(MAX_LEDGER_READS_AT_ONCE);

  const meet = async (task: ShownAiTask): Promise<Sighting> => {
    const isFollowed = followedIds.has(task.task_id);
    const key = aiTaskKey({ account: run.accountName, taskId: task.task_id });
    const stored = isFollowed ? undefined : await aiTasks.read(ledger, key);
    return { task, isFollowed, recorded: stored?.value.state };
  };

  const seen = new Map<string, Sighting>();
  let pages = 0;
  for await (const tasks of aiTaskPages(run)) {
    pages += 1;
    const page = await limit.map(tasks, meet);
    for (const sighting of page) seen.set(sighting.task.task_id, sighting);
    if (!isBaseline && mayStopAfter(page)) break;
  }
  return { sightings: [...seen.values()], pages };
};
