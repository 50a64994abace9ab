import pLimit from "p-limit";
import type * as z from "zod";
import { getTask, listTasks, type taskSchema } from "../../contract/tasks.ts";
import type { Random } from "../../platform/ports/random.ts";
import type { Account } from "../../provider/accounts.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { isSmall } from "../command-events.ts";
import { isBeside, type Task, type TaskEnd } from "../task.ts";
import type { RunMemory } from "./due-entries.ts";

/** The result of one check of a task. */
export type TaskReport =
  | { readonly kind: "open"; readonly project: number | undefined }
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
const reportOf = (task: z.output<typeof taskSchema>): TaskReport => {
  const { state, error, created_resources: resources } = task;
  const project = task.project_id ?? undefined;
  if (state === "FINISHED" && !error) {
    // A list that is too large for an event is left out: it can be read at the provider.
    const created = resources && isSmall(resources) && { createdResources: { ...resources } };
    return { kind: "ended", end: { status: "finished", ...created }, project };
  }
  if (state === "FINISHED" || state === "ERROR") {
    const message = error || "the task ended in state ERROR without an error text";
    return { kind: "ended", end: { status: "failed", message }, project };
  }
  return { kind: "open", project };
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

/** From this many tasks on, one list request is cheaper than reading each. */
const MIN_TASKS_TO_LIST = 5;
const PAGE_SIZE = 1000;
/** A project with more running tasks than this is read task by task. */
const MAX_PAGES = 10;
/** How far the provider's clock may be behind ours without hiding our tasks from the list. */
const CLOCK_SKEW_MS = 60_000;
/** A task of another client began before it was recorded here. An older one is read by itself. */
const BEGAN_BEFORE_MS = 24 * 60 * 60 * 1000;
const MAX_READS_AT_ONCE = 5;

/** Error codes of an API that has no list, or none for this key. */
const REFUSED = new Set(["forbidden", "refused"]);
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
  /** Whether one list holds them, so that reading all of them costs no more than one. */
  readonly isListed: boolean;
}

/** Every task of the account that still runs, by id; the list has no filter for ids. */
const listOpen = async (account: Account, since: number, signal: AbortSignal): Promise<Reports> => {
  const open = new Map<string, TaskReport>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const { results } = await account.client.call(
      listTasks,
      {
        params: {},
        query: {
          state: ["NEW", "RUNNING"],
          from_timestamp: new Date(since).toISOString(),
          order_by: "asc",
          limit: PAGE_SIZE,
          offset: page * PAGE_SIZE,
        },
        body: undefined,
      },
      signal,
    );
    for (const task of results) open.set(task.id, reportOf(task));
    if (results.length < PAGE_SIZE) break;
  }
  return open;
};

const beganAt = (task: Task): number =>
  task.recordedAt - (isBeside(task) ? BEGAN_BEFORE_MS : CLOCK_SKEW_MS);

const tryToList = async (
  account: Account,
  tasks: readonly Task[],
  { withoutLists }: RunMemory,
  signal: AbortSignal,
): Promise<Reports | Unreadable | undefined> => {
  try {
    return await listOpen(account, Math.min(...tasks.map(beganAt)), signal);
  } catch (error) {
    const report = reportOfError(error);
    // A refused list does not show whether the key is valid. While the key counts as refused, a run must not use up
    // every half-open probe for lists.
    if (report.kind === "unreadable" && REFUSED.has(report.code)) withoutLists.add(account.name);
    // Without a list, tasks are read one by one. An account in trouble is left alone.
    return report.kind === "unreadable" && !NO_LIST.has(report.code) ? report : undefined;
  }
};

/** Random order, so that the same tasks are not always behind one that gets no answer. */
const shuffled = <T>(items: readonly T[], random: Random): readonly T[] =>
  items
    .map((item) => ({ item, order: random.fraction() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);

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

/**
 * Reads tasks of one account, each once however many commands wait for it: by one list where that
 * pays, the rest one by one.
 */
export const readTasks = async (
  account: Account,
  tasks: readonly Task[],
  { memory, random }: { readonly memory: RunMemory; readonly random: Random },
  signal: AbortSignal,
): Promise<TaskReports> => {
  const ids = [...new Set(tasks.map(({ id }) => id))];
  const mayList = account.canList && !memory.withoutLists.has(account.name);
  const isListWorthIt = mayList && ids.length >= MIN_TASKS_TO_LIST;
  const listed = isListWorthIt ? await tryToList(account, tasks, memory, signal) : undefined;
  if (listed && "kind" in listed) {
    return { reports: new Map(ids.map((id) => [id, listed])), isListed: true };
  }
  const unlisted = ids.filter((id) => !listed?.has(id));
  const read = await readEach(account, shuffled(unlisted, random), signal);
  return { reports: new Map([...(listed ?? []), ...read]), isListed: listed !== undefined };
};
