import pLimit from "p-limit";
import { getTask } from "../../contract/tasks.ts";
import { type Random, shuffled } from "../../platform/ports/random.ts";
import type { Account } from "../../provider/accounts.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { isSmall } from "../command-events.ts";
import type { TaskEnd } from "../task.ts";
import { type AccountTasks, nextListAfter, type OpenTask } from "./open-tasks.ts";
import { createdAtOf, listEnded, listOpen, type TaskRecord } from "./task-lists.ts";

/** The result of one check of a task. */
export type TaskReport =
  | {
      readonly kind: "open";
      readonly project: number | undefined;
      /** Time of creation by the provider, epoch ms. */
      readonly createdAt: number | undefined;
    }
  | { readonly kind: "ended"; readonly end: TaskEnd; readonly project: number | undefined }
  | { readonly kind: "missing" }
  /** Not read, because the account is not in the accounts file. */
  | { readonly kind: "unseen" }
  /** Not read, because the account was in trouble; the provider may have asked for a pause. */
  | { readonly kind: "skipped"; readonly retryAfterMs: number | undefined }
  /** The provider gave no usable answer; it may have asked for a pause. */
  | {
      readonly kind: "unreadable";
      readonly code: string;
      readonly retryAfterMs: number | undefined;
    };

/**
 * The meaning of a task record. FINISHED with an error text is a failure; an unknown state means still
 * running, because the document names two ends only.
 */
const reportOf = (task: TaskRecord): TaskReport => {
  const { state, error, created_resources: resources } = task;
  const project = task.project_id ?? undefined;
  if (state === "FINISHED" && !error) {
    // A list that is too large for an event is left out: it can be read at the provider.
    const created = resources && isSmall([resources]) && { createdResources: { ...resources } };
    return { kind: "ended", end: { status: "finished", ...created }, project };
  }
  if (state === "FINISHED" || state === "ERROR") {
    const message = error || "the task ended in state ERROR without an error text";
    return { kind: "ended", end: { status: "failed", message }, project };
  }
  return { kind: "open", project, createdAt: createdAtOf(task) };
};

/** A failed check never ends a task: it shows only that the task could not be read. */
const reportOfError = (error: unknown): TaskReport => {
  if (!(error instanceof ProviderError)) throw error;
  return error.code === "not-found"
    ? { kind: "missing" }
    : { kind: "unreadable", code: error.code, retryAfterMs: error.retryAfterMs };
};

const readTask = async (
  account: Account,
  taskId: string,
  signal: AbortSignal,
): Promise<TaskReport> => {
  try {
    const request = { params: { task_id: taskId }, query: {}, body: undefined };
    return reportOf(await account.client.call(getTask, request, signal));
  } catch (error) {
    return reportOfError(error);
  }
};

/** From this many tasks on, a list costs fewer requests than reading each. */
const MIN_TASKS_TO_LIST = 2;
const MAX_READS_AT_ONCE = 5;

/** Error codes of an API that has no list, or none for this key. */
const REFUSED = new Set(["forbidden", "not-found", "refused"]);
/** Those, and error codes of a list that cannot be read. */
const NO_LIST = new Set([...REFUSED, "reply-unexpected", "reply-unreadable"]);

/** Error codes that concern the account rather than the task. */
const IN_TROUBLE = new Set([
  "aborted",
  "budget-spent",
  "budget-unavailable",
  "connection-failed",
  "connection-lost",
  "key-refused",
  "key-unavailable",
  "paused",
  "throttled",
  "timed-out",
]);

type Unreadable = Extract<TaskReport, { kind: "unreadable" }>;
type Reports = ReadonlyMap<string, TaskReport>;

export interface TaskReports {
  /** Reports by task id. */
  readonly reports: Reports;
  /** Whether the account's tasks are read by a list, so that they are checked together. */
  readonly isListed: boolean;
}

/** Why an account is left alone after a failed list; undefined: its tasks are read one by one. */
const troubleOf = (
  error: ProviderError,
  list: "open" | "ended",
  { refused }: AccountTasks,
): Unreadable | undefined => {
  // A refused list does not show whether the key is valid. While the key counts as refused, a run must not
  // use up every half-open probe for lists.
  if (REFUSED.has(error.code)) refused.add(list);
  return NO_LIST.has(error.code)
    ? undefined
    : { kind: "unreadable", code: error.code, retryAfterMs: error.retryAfterMs };
};

/** Whether one list serves these tasks now, at no more requests than reading each. */
export const isListWorthIt = (
  account: Account,
  taskCount: number,
  { pages, refused, nextListAt }: AccountTasks,
  now: number,
): boolean =>
  account.canList &&
  !refused.has("open") &&
  nextListAt <= now &&
  taskCount >= Math.max(MIN_TASKS_TO_LIST, pages);

/** Reads one by one, until an answer shows that the account is in trouble. */
const readEach = async (
  account: Account,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Reports> => {
  const limit = pLimit(MAX_READS_AT_ONCE);
  const reports = new Map<string, TaskReport>();
  let trouble: Unreadable | undefined;
  const read = async (id: string): Promise<TaskReport> => {
    if (trouble) return { kind: "skipped", retryAfterMs: trouble.retryAfterMs };
    const report = await readTask(account, id, signal);
    if (report.kind === "unreadable" && IN_TROUBLE.has(report.code)) trouble = report;
    return report;
  };
  await Promise.all(ids.map((id) => limit(async () => reports.set(id, await read(id)))));
  return reports;
};

interface ListResult {
  /** Whether the list of open tasks was read to its end. */
  readonly isComplete: boolean;
  /** Why the account is left alone in this round. */
  readonly trouble?: Unreadable | undefined;
}

/** Reads tasks of one account by lists, and adds reports of those that are found. */
const readLists = async (
  account: Account,
  tasks: readonly OpenTask[],
  memory: AccountTasks,
  { reports, now, signal }: { reports: Map<string, TaskReport>; now: number; signal: AbortSignal },
): Promise<ListResult> => {
  const open = await listOpen(account, tasks, signal);
  memory.pages = open.pages;
  memory.nextListAt = nextListAfter(now, open.pages);
  for (const [id, record] of open.found) reports.set(id, reportOf(record));
  const { isComplete } = open;
  if (open.error) return { isComplete, trouble: troubleOf(open.error, "open", memory) };
  if (!isComplete || memory.refused.has("ended")) return { isComplete };
  const gone = tasks.filter(({ id }) => !open.found.has(id));
  const ended = await listEnded(account, gone, signal);
  for (const [id, record] of ended.found) reports.set(id, reportOf(record));
  return { isComplete, trouble: ended.error && troubleOf(ended.error, "ended", memory) };
};

/**
 * Reads open tasks of one account, each once however many commands wait for it: by lists where these cost no
 * more requests, the rest one by one. A task that is not due, and may still run, is read by a list only.
 * @param memory of the account; remembers the pages of the list, and refused lists
 */
export const readTasks = async (
  account: Account,
  tasks: readonly OpenTask[],
  { memory, random, now }: { memory: AccountTasks; random: Random; now: number },
  signal: AbortSignal,
): Promise<TaskReports> => {
  const ids = new Set(tasks.map(({ id }) => id));
  const reports = new Map<string, TaskReport>();
  const lists = isListWorthIt(account, ids.size, memory, now)
    ? await readLists(account, tasks, memory, { reports, now, signal })
    : undefined;
  const trouble = lists?.trouble;
  const isListed = trouble !== undefined || lists?.isComplete === true;
  // What a complete list does not show has ended, and is read at once. After a failed list all tasks wait for the next.
  const isDue = ({ checkAt = now }: OpenTask): boolean => isListed || checkAt <= now;
  const unread = [...new Set(tasks.filter(isDue).map(({ id }) => id))].filter(
    (id) => !reports.has(id),
  );
  if (trouble) for (const id of unread) reports.set(id, trouble);
  else {
    const read = await readEach(account, shuffled(unread, random), signal);
    for (const [id, report] of read) reports.set(id, report);
  }
  return { reports, isListed };
};
