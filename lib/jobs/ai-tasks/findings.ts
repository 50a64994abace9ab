import pLimit from "p-limit";
import { aiTaskKey, aiTasks } from "./ai-task.ts";
import { followOpen, type OpenAiTask } from "./ai-watch.ts";
import { noteEnd, tellEnd } from "./publish-ends.ts";
import { type AiTaskRun, changeWatch, requireLease } from "./run.ts";
import {
  type AiTaskEnd,
  type EndedAiTask,
  endOf,
  hasEnded,
  type ShownAiTask,
  taskNameOf,
} from "./shown-task.ts";

const MAX_READS_AT_ONCE = 16;
const MAX_WRITES_AT_ONCE = 8;

/** What a task on a page means for us. Nothing else of the page is kept: lists may be long. */
export type Finding =
  /** It is followed, and stays so. */
  | { readonly kind: "followed"; readonly taskId: string }
  | { readonly kind: "recorded" }
  | { readonly kind: "to-follow"; readonly task: OpenAiTask }
  | { readonly kind: "to-tell"; readonly end: AiTaskEnd }
  /** It ended before its account was watched. */
  | ({ readonly kind: "to-note" } & Pick<AiTaskEnd, "taskId" | "status">);

const RECORDED: Finding = { kind: "recorded" };

const toFollow = (task: ShownAiTask): Finding => {
  const taskName = taskNameOf(task);
  const named = taskName !== undefined && { taskName };
  return { kind: "to-follow", task: { taskId: task.task_id, ...named } };
};

const toTell = (task: EndedAiTask): Finding => ({ kind: "to-tell", end: endOf(task) });

/** A baseline tells of nothing: the end of a task that was known at work is left to the next run. */
const findingOf = async (run: AiTaskRun, task: ShownAiTask): Promise<Finding> => {
  const { task_id: taskId } = task;
  const isBaseline = run.watch.fullReadAt === undefined;
  if (run.followed.has(taskId)) {
    return hasEnded(task) && !isBaseline ? toTell(task) : { kind: "followed", taskId };
  }
  const key = aiTaskKey({ account: run.accountName, taskId });
  const state = (await aiTasks.read(run.deps.ledger, key))?.value.state;
  if (state?.kind === "ended") return RECORDED;
  if (!hasEnded(task)) return toFollow(task);
  if (!isBaseline) return toTell(task);
  return state?.kind === "vanished"
    ? toFollow(task)
    : { kind: "to-note", taskId, status: task.status };
};

export const findingsOf = (
  run: AiTaskRun,
  tasks: readonly ShownAiTask[],
): Promise<readonly Finding[]> =>
  pLimit(MAX_READS_AT_ONCE).map(tasks, (task) => findingOf(run, task));

const follow = async (run: AiTaskRun, found: readonly OpenAiTask[]): Promise<void> => {
  if (found.length === 0) return;
  const { open } = await changeWatch(run, (watch) => followOpen(watch, found));
  const followed = new Set(open.map(({ taskId }) => taskId));
  if (found.every(({ taskId }) => followed.has(taskId))) return;
  run.warnOnce("more AI tasks at work than can be followed");
};

const record = async (run: AiTaskRun, finding: Finding): Promise<void> => {
  switch (finding.kind) {
    case "followed":
      run.looks.set(finding.taskId, { kind: "present" });
      return;
    case "to-tell":
      await tellEnd(run, finding.end);
      run.looks.set(finding.end.taskId, { kind: "over" });
      return;
    case "to-note":
      await noteEnd(run, finding);
      return;
    default:
  }
};

/**
 * Makes a page known: follows what is at work, records and tells of what has ended.
 * @throws Error when the lease is lost
 */
export const recordPage = async (run: AiTaskRun, findings: readonly Finding[]): Promise<void> => {
  await requireLease(run);
  await follow(
    run,
    findings.flatMap((finding) => (finding.kind === "to-follow" ? finding.task : [])),
  );
  await pLimit(MAX_WRITES_AT_ONCE).map(findings, (finding) => record(run, finding));
};
