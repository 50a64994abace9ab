import { createPacedClient } from "../client/paced-client.ts";
import {
  aiWatches,
  applyLooks,
  followOpen,
  hasBaseline,
  type OpenAiTask,
  type OpenLook,
} from "../ledger/ai-watch.ts";
import type { JobBudget, JobDeps } from "../ports/job.ts";
import { recordBaseline } from "./baseline.ts";
import { lookAtUnseen } from "./look-at-unseen.ts";
import { newsOf } from "./news.ts";
import { type Reading, readToKnown } from "./read-list.ts";
import type { AiTaskRun, AiTaskWatch } from "./run.ts";
import { hasEnded, type ShownAiTask } from "./shown-task.ts";
import { stopRule } from "./stop-rule.ts";
import { tellEndsInOrder } from "./tell.ts";

const startRun = (deps: JobDeps, watch: AiTaskWatch, budget: JobBudget): AiTaskRun => {
  const { account, taskName } = watch;
  return {
    deps,
    accountName: account.name,
    taskName,
    client: createPacedClient(account, { ...deps, ...budget }),
  };
};

/** Follows new tasks. @returns whether there was room for all of them */
const follow = async (
  { deps, accountName }: AiTaskRun,
  toFollow: readonly OpenAiTask[],
): Promise<boolean> => {
  if (toFollow.length === 0) return true;
  const { value } = await aiWatches.change(deps.ledger, accountName, (watch) =>
    followOpen(watch, toFollow),
  );
  const followed = new Set(value.open.map(({ taskId }) => taskId));
  const leftOut = toFollow.filter(({ taskId }) => !followed.has(taskId));
  if (leftOut.length > 0) {
    const fields = { account: accountName, count: leftOut.length };
    deps.log.warn("more AI tasks at work than can be followed", fields);
  }
  return leftOut.length === 0;
};

const looksOn = ({ sightings }: Reading): ReadonlyMap<string, OpenLook> =>
  new Map(
    sightings
      .filter(({ isFollowed }) => isFollowed)
      .map(({ task }) => [task.task_id, { kind: hasEnded(task) ? "ended" : "present" }]),
  );

/** Asks for what the list did not show, and stops following what is over. */
const closeRun = async (
  run: AiTaskRun,
  followed: readonly OpenAiTask[],
  seen: ReadonlyMap<string, OpenLook>,
): Promise<void> => {
  const unseen = followed.filter(({ taskId }) => !seen.has(taskId));
  const looks = new Map([...seen, ...(await lookAtUnseen(run, unseen))]);
  if (looks.size === 0) return;
  await aiWatches.update(run.deps.ledger, run.accountName, (watch) => applyLooks(watch, looks));
};

/**
 * One run: finds AI tasks of an account that are new, and publishes the end of each task once. The
 * first run with a filter records what the list shows, and publishes nothing.
 *
 * Followed are at most 2,000 tasks at work; of more, those that were started last are told of when
 * the list shows their end. With nothing new a run is one request, or as many as it takes to come to
 * a task whose success was recorded, and writes nothing.
 * @throws ProviderError when the list could not be read in time; nothing is recorded then
 */
export const watchAiTasks = async (
  deps: JobDeps,
  watch: AiTaskWatch,
  budget: JobBudget,
): Promise<void> => {
  const run = startRun(deps, watch, budget);
  const found = (await aiWatches.read(deps.ledger, run.accountName))?.value;
  const followed = found?.open ?? [];
  const isBaseline = !hasBaseline(found, run.taskName);
  const reading = await readToKnown(run, { followed, isBaseline });
  const news = newsOf(reading, isBaseline);
  const mayStop = await stopRule(run, reading, news);
  // Before the ends: a task at work must not be hidden by an end at which later runs stop.
  const isAllFollowed = await follow(run, news.toFollow);
  const stopsPaging = (task: ShownAiTask) => isAllFollowed && mayStop(task);
  if (isBaseline) return recordBaseline(run, news.ended, ({ task }) => stopsPaging(task));
  const ends = news.ended.map(({ task }) => task);
  await tellEndsInOrder(run, ends, stopsPaging);
  await closeRun(run, followed, looksOn(reading));
};
