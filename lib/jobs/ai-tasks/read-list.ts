import pLimit from "p-limit";
import { isUnreadable } from "../../ledger/record.ts";
import { type AiTask, aiTaskKey, aiTasks, publishEnd, recordEnd } from "./ai-task.ts";
import {
  type AiTaskRun,
  changeWatch,
  continueFrom,
  endFullRead,
  followOpen,
  type OpenAiTask,
  requireLease,
} from "./ai-watch.ts";
import {
  type AiTaskEnd,
  aiTaskPages,
  type EndedAiTask,
  endOf,
  hasEnded,
  type ShownAiTask,
  taskNameOf,
} from "./task-list.ts";

const MAX_READS_AT_ONCE = 16;
const MAX_WRITES_AT_ONCE = 8;

/** Action for a task on a page. Nothing else of the page is kept, because lists may be long. */
type PageEntry =
  /** Stays followed. */
  | { readonly kind: "followed"; readonly taskId: string }
  | { readonly kind: "recorded" }
  | { readonly kind: "to-follow"; readonly task: OpenAiTask }
  | { readonly kind: "to-publish"; readonly end: AiTaskEnd }
  /** Ended before its account was watched. */
  | ({ readonly kind: "to-record" } & Pick<AiTaskEnd, "taskId" | "status">);

const toFollow = (task: ShownAiTask): PageEntry => {
  const taskName = taskNameOf(task);
  const open = { taskId: task.task_id, ...(taskName !== undefined && { taskName }) };
  return { kind: "to-follow", task: open };
};

const toPublish = (task: EndedAiTask): PageEntry => ({ kind: "to-publish", end: endOf(task) });

/**
 * Chooses the action for a task. A baseline publishes nothing, and leaves the end of a followed task to the
 * next run.
 */
const classify = async (run: AiTaskRun, task: ShownAiTask): Promise<PageEntry> => {
  const { task_id: taskId } = task;
  const isBaseline = run.watch.fullReadAt === undefined;
  if (run.followed.has(taskId)) {
    return hasEnded(task) && !isBaseline ? toPublish(task) : { kind: "followed", taskId };
  }
  const key = aiTaskKey({ account: run.accountName, taskId });
  let state: AiTask["state"] | undefined;
  try {
    state = (await aiTasks.read(run.deps.ledger, key))?.value.state;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // One record must not keep the run from all other tasks. A newer version has written it, and follows the task.
    run.warnOnce("records of AI tasks that this version cannot read are left alone");
    return { kind: "recorded" };
  }
  if (state?.kind === "ended") return { kind: "recorded" };
  if (!hasEnded(task)) return toFollow(task);
  if (!isBaseline) return toPublish(task);
  return state?.kind === "vanished"
    ? toFollow(task)
    : { kind: "to-record", taskId, status: task.status };
};

const classifyPage = (
  run: AiTaskRun,
  tasks: readonly ShownAiTask[],
): Promise<readonly PageEntry[]> =>
  pLimit(MAX_READS_AT_ONCE).map(tasks, (task) => classify(run, task));

const follow = async (run: AiTaskRun, found: readonly OpenAiTask[]): Promise<void> => {
  if (found.length === 0) return;
  const { open } = await changeWatch(run, (watch) =>
    followOpen(watch, found, run.deps.clock.now()),
  );
  const followed = new Set(open.map(({ taskId }) => taskId));
  if (found.every(({ taskId }) => followed.has(taskId))) return;
  run.warnOnce("more running AI tasks than can be followed");
};

const record = async (run: AiTaskRun, entry: PageEntry): Promise<void> => {
  switch (entry.kind) {
    case "followed":
      run.checks.set(entry.taskId, { kind: "present" });
      break;
    case "to-publish":
      await publishEnd(run, entry.end);
      run.checks.set(entry.end.taskId, { kind: "over" });
      break;
    case "to-record":
      await recordEnd(run, entry);
      break;
    default:
  }
};

/**
 * Records a page: follows running tasks, records and publishes ended ones.
 * @throws Error when the lease is lost
 */
const recordPage = async (run: AiTaskRun, entries: readonly PageEntry[]): Promise<void> => {
  await requireLease(run);
  await follow(
    run,
    entries.flatMap((entry) => (entry.kind === "to-follow" ? entry.task : [])),
  );
  await pLimit(MAX_WRITES_AT_ONCE).map(entries, (entry) => record(run, entry));
};

/** Maximum new tasks that a run keeps in memory. With more, it records page by page. */
const MAX_NEW = 2_000;

const isKnown = ({ kind }: PageEntry): boolean => kind === "followed" || kind === "recorded";

/**
 * Whether the read may stop at a page. Running tasks may fill a page above unseen ends, so one task of it must
 * have ended.
 */
const mayStopAt = (entries: readonly PageEntry[]): boolean =>
  entries.every(isKnown) && entries.some(({ kind }) => kind === "recorded");

/**
 * Reads the list from its newest page to the first known one, then records the pages from the oldest to the
 * newest. So a run that dies on the way leaves nothing unknown below a page at which the next run stops.
 * @returns false, and records nothing, when more than `MAX_NEW` tasks are new
 */
export const recordNew = async (run: AiTaskRun): Promise<boolean> => {
  const pages: (readonly PageEntry[])[] = [];
  let newTasks = 0;
  for await (const { tasks } of aiTaskPages(run, 1)) {
    const entries = await classifyPage(run, tasks);
    pages.push(entries);
    newTasks += entries.filter((entry) => !isKnown(entry)).length;
    if (newTasks > MAX_NEW) return false;
    if (mayStopAt(entries)) break;
  }
  for (const entries of pages.toReversed()) await recordPage(run, entries);
  return true;
};

/**
 * Reads the whole list and records page after page. If a run cannot finish the list, the next run
 * continues it. Tasks that were added meanwhile only move others to later pages, which repeats some.
 */
export const readWhole = async (run: AiTaskRun): Promise<void> => {
  for await (const { page, tasks } of aiTaskPages(run, run.watch.nextPage ?? 1)) {
    // Written before the page, so that a run that dies does not hide the pages below a recorded one.
    await changeWatch(run, (watch) => continueFrom(watch, page));
    await recordPage(run, await classifyPage(run, tasks));
  }
  await changeWatch(run, (watch) => endFullRead(watch, run.deps.clock.now()));
};
