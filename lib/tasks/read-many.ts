import pLimit from "p-limit";
import type { Account } from "../accounts/account.ts";
import { listTasks } from "../contract/tasks.ts";
import type { Task } from "../ledger/task.ts";
import { readTask, reportOf, reportOfError, type TaskReport } from "./task-report.ts";

/** From this many tasks on, one list request is cheaper than looking at each. */
const MIN_TASKS_TO_LIST = 5;
const PAGE_SIZE = 1000;
/** A project with more running tasks than this is read task by task. */
const MAX_PAGES = 10;
/** How far the provider's clock may be behind ours without hiding our tasks from the list. */
const CLOCK_SKEW_MS = 60_000;
const MAX_READS_AT_ONCE = 5;

/** Answers of an interface that has no list, or not for this key, or none that can be read. */
const NO_LIST = new Set(["forbidden", "refused", "reply-unexpected", "reply-unreadable"]);

type Reports = ReadonlyMap<string, TaskReport>;

/** What was seen of many tasks, by task id. */
export interface ManyReports {
  readonly reports: Reports;
  /** Whether one list told of them, so that looking at all of them costs no more than at one. */
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

const tryToList = async (
  account: Account,
  tasks: readonly Task[],
  signal: AbortSignal,
): Promise<Reports | Extract<TaskReport, { kind: "unreadable" }> | undefined> => {
  if (!account.canList || tasks.length < MIN_TASKS_TO_LIST) return undefined;
  const since = Math.min(...tasks.map(({ recordedAt }) => recordedAt)) - CLOCK_SKEW_MS;
  try {
    return await listOpen(account, since, signal);
  } catch (error) {
    const report = reportOfError(error);
    // An interface without the list is read task by task; one that is in trouble is left alone.
    return report.kind === "unreadable" && !NO_LIST.has(report.code) ? report : undefined;
  }
};

/** Looks at many tasks of one account: by one list where that pays, the rest one by one. */
export const readTasks = async (
  account: Account,
  tasks: readonly Task[],
  signal: AbortSignal,
): Promise<ManyReports> => {
  const listed = await tryToList(account, tasks, signal);
  if (listed && "kind" in listed) {
    return { reports: new Map(tasks.map(({ id }) => [id, listed])), isListed: true };
  }
  const limit = pLimit(MAX_READS_AT_ONCE);
  const reports = await Promise.all(
    tasks.map(({ id }) =>
      limit(async () => [id, listed?.get(id) ?? (await readTask(account, id, signal))] as const),
    ),
  );
  return { reports: new Map(reports), isListed: listed !== undefined };
};
