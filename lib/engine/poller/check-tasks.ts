import pLimit from "p-limit";
import type { Random } from "../../platform/ports/random.ts";
import { commands, isEnded } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import {
  abandonTask,
  markFound,
  markMissing,
  missingSince,
  postponeCheck,
  type Task,
  taskKey,
  tasks,
  UNKNOWN_FOR_MS,
} from "../task.ts";
import {
  leaveDue,
  MAX_AT_ONCE,
  PAUSE_AFTER_WORK_MS,
  type RunMemory,
  splitKey,
} from "./due-entries.ts";
import { readTasks, type TaskReport, type TaskReports } from "./read-tasks.ts";
import { depsOfTask, publishTaskEnd, recordAndPublishEnd } from "./task-end.ts";

/** The shortest pause between two checks of one task. */
const MIN_PAUSE_MS = 2_000;
/** The period of the poller's schedule, so that no check is missed when a run ends. */
const MAX_PAUSE_MS = 60_000;
/**
 * Part of a task's age that passes before its next check: its end is found late by at most a fifth of its
 * duration.
 */
const PART_OF_AGE = 0.2;
/** Spreads the checks of tasks that began together: the pause is up to a quarter shorter. */
const JITTER = 0.25;
/** Pause of tasks that were not read because the account was in trouble. */
const SKIPPED_PAUSE_MS = 2_000;
const NOTHING_SEEN: TaskReports = { reports: new Map(), isListed: false };

/** The longest pause before the next check of a task of this age: short at first, longer with age. */
export const longestPause = (ageMs: number): number =>
  Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageMs * PART_OF_AGE));

export const pauseBeforeCheck = (ageMs: number, random: Random): number =>
  Math.round(longestPause(ageMs) * (1 - JITTER * random.fraction()));

const recordMissing = async (deps: CommandDeps, task: Task): Promise<void> => {
  const now = deps.clock.now();
  if (now - missingSince(task, now) >= UNKNOWN_FOR_MS) {
    const message = "the provider does not know the task";
    return recordAndPublishEnd(deps, task, { status: "unknown", message });
  }
  await tasks.update(deps.ledger, taskKey(task), (current) => markMissing(current, now));
};

/** Gives up a task after its deadline once its command has ended. */
const abandonOverdue = async (deps: CommandDeps, task: Task): Promise<void> => {
  if (deps.clock.now() < task.deadline) return;
  const command = await commands.read(deps.ledger, task.command);
  if (!command || isEnded(command.value)) {
    await tasks.update(deps.ledger, taskKey(task), (current) =>
      abandonTask(current, deps.clock.now()),
    );
  }
};

const applyReport = async (deps: CommandDeps, task: Task, report: TaskReport): Promise<void> => {
  switch (report.kind) {
    case "ended":
      return recordAndPublishEnd(deps, task, report.end);
    case "missing":
      return recordMissing(deps, task);
    case "open":
      if (markFound(task) !== task) {
        await tasks.update(deps.ledger, taskKey(task), markFound);
      }
      return abandonOverdue(deps, task);
    // These reports do not show whether the provider knows the task.
    case "skipped":
    case "unseen":
    case "unreadable":
      return abandonOverdue(deps, task);
    default:
      return report satisfies never;
  }
};

/**
 * The report that the task's follower may see: a task in a project without rights looks missing.
 */
const asSeenByFollower = (
  deps: CommandDeps,
  task: Task,
  report: TaskReport | undefined,
): TaskReport => {
  if (report === undefined) return { kind: "unseen" };
  const { followedBy, account } = task;
  const isHidden =
    followedBy !== undefined &&
    "project" in report &&
    !deps.access.maySee(followedBy, account, report.project);
  return isHidden ? { kind: "missing" } : report;
};

/** The pause before the next check by task id: commands that wait for one task are checked together. */
const pausesOf = (deps: CommandDeps, open: readonly Task[]): ReadonlyMap<string, number> => {
  const pauses = new Map<string, number>();
  for (const { id, recordedAt } of open) {
    const pause = pauseBeforeCheck(deps.clock.now() - recordedAt, deps.random);
    pauses.set(id, Math.min(pauses.get(id) ?? pause, pause));
  }
  return pauses;
};

const pauseAfter = (report: TaskReport, pause: number, isCrowded: boolean): number => {
  const requested = "retryAfterMs" in report ? (report.retryAfterMs ?? 0) : 0;
  return Math.max(requested, report.kind === "skipped" && !isCrowded ? SKIPPED_PAUSE_MS : pause);
};

/** One check of the due tasks of one account. */
export interface AccountCheck {
  readonly account: string;
  /** Keys of the tasks' due entries. */
  readonly keys: readonly string[];
  /**
   * Whether more is due than a query returns: each checked task is then postponed, so that later
   * entries appear.
   */
  readonly isCrowded: boolean;
  /** Aborts when the run may begin nothing new. */
  readonly run: AbortSignal;
  /** Called before the first request to the provider. @returns the signal for all requests */
  readonly startRequests: () => AbortSignal;
}

interface OpenTask {
  readonly key: string;
  readonly task: Task;
}

/** Reads the tasks and returns the open ones; publishes the end of a task that ended before. */
const readOpenTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  { keys, run }: AccountCheck,
): Promise<readonly OpenTask[]> => {
  const open: OpenTask[] = [];
  const readOne = async (key: string): Promise<void> => {
    if (run.aborted) return;
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    // An error after the read is logged with the task's command, which the key does not show.
    let own = deps;
    try {
      const task = (await tasks.read(deps.ledger, splitKey(key)[1]))?.value;
      if (!task) return;
      if (task.state.status === "open") {
        open.push({ key, task });
        return;
      }
      own = depsOfTask(deps, task);
      const unpublishedSince = tasks.dueAt(task);
      if (unpublishedSince !== undefined) memory.unpublishedSince.set(key, unpublishedSince);
      await publishTaskEnd(own, task);
    } catch (error) {
      leaveDue(own, memory, key, error);
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  await Promise.all(keys.map((key) => limit(() => readOne(key))));
  return open;
};

const checkOpenTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  { account: name, isCrowded, run, startRequests }: AccountCheck,
  open: readonly OpenTask[],
): Promise<void> => {
  const openTasks = open.map(({ task }) => task);
  const account = deps.accountOf(name);
  if (!account)
    deps.log.warn("tasks not checked: their account is not in the accounts file", {
      account: name,
    });
  // Without an account no task can be read, and the tasks stay open until their deadline.
  const { reports, isListed } = account
    ? await readTasks(account, openTasks, { memory, random: deps.random }, startRequests())
    : NOTHING_SEEN;
  const now = deps.clock.now();
  const pauses = pausesOf(deps, openTasks);
  // Tasks on one list get one pause. Otherwise each would soon be due, and read, by itself.
  const common = isListed ? Math.min(...pauses.values()) : undefined;
  const checkOne = async ({ key, task }: OpenTask): Promise<void> => {
    if (run.aborted) {
      memory.notBefore.set(key, now);
      return;
    }
    const report = asSeenByFollower(deps, task, reports.get(task.id));
    const pause = pauseAfter(report, common ?? pauses.get(task.id) ?? MAX_PAUSE_MS, isCrowded);
    const own = depsOfTask(deps, task);
    try {
      await applyReport(own, task, report);
      if (isCrowded) {
        const later = now + Math.min(pause, MAX_PAUSE_MS);
        await tasks.update(deps.ledger, taskKey(task), (current) => postponeCheck(current, later));
      }
      memory.notBefore.set(key, now + pause);
    } catch (error) {
      leaveDue(own, memory, key, error);
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  await Promise.all(open.map((each) => limit(() => checkOne(each))));
};

/**
 * Checks the due tasks of one account once. A check that finds nothing new writes nothing, unless
 * the ledger is crowded. Never rejects: a failed check leaves its task due.
 */
export const checkTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  check: AccountCheck,
): Promise<void> => {
  const open = await readOpenTasks(deps, memory, check);
  if (open.length === 0) return;
  try {
    await checkOpenTasks(deps, memory, check, open);
  } catch (error) {
    for (const { key, task } of open) leaveDue(depsOfTask(deps, task), memory, key, error);
  }
};
