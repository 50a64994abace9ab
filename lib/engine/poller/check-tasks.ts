import pLimit from "p-limit";
import type { Account } from "../../provider/accounts.ts";
import { commands, isEnded } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import {
  abandonTask,
  lookLater,
  missingSince,
  noteFound,
  noteMissing,
  type Task,
  taskKey,
  tasks,
  UNKNOWN_FOR_MS,
} from "../task.ts";
import { MAX_PAUSE_MS, pauseBeforeLook } from "./check-schedule.ts";
import { type ManyReports, readTasks } from "./read-many.ts";
import { settleTask } from "./task-end.ts";
import { depsOfTask } from "./task-log.ts";
import type { TaskReport } from "./task-report.ts";

const MAX_AT_ONCE = 8;
/** Of tasks that nobody was asked for because the account was in trouble before their turn came. */
const UNASKED_PAUSE_MS = 2_000;
const NOTHING_SEEN: ManyReports = { reports: new Map(), isListed: false };

const lookMissing = async (deps: CommandDeps, task: Task): Promise<void> => {
  const now = deps.clock.now();
  if (now - missingSince(task, now) >= UNKNOWN_FOR_MS) {
    const message = "the provider does not know the task";
    return settleTask(deps, task, { status: "unknown", message });
  }
  await tasks.update(deps.ledger, taskKey(task), (current) => noteMissing(current, now));
};

/** A task that nobody waits for any more is not followed for ever. */
const lookOpen = async (deps: CommandDeps, task: Task): Promise<void> => {
  if (deps.clock.now() < task.deadline) return;
  const command = await commands.read(deps.ledger, task.command);
  if (!command || isEnded(command.value)) {
    await tasks.update(deps.ledger, taskKey(task), (current) =>
      abandonTask(current, deps.clock.now()),
    );
  }
};

const actOn = async (deps: CommandDeps, task: Task, report: TaskReport): Promise<void> => {
  switch (report.kind) {
    case "ended":
      return settleTask(deps, task, report.end);
    case "missing":
      return lookMissing(deps, task);
    case "open":
      if (noteFound(task) !== task) {
        await tasks.update(deps.ledger, taskKey(task), noteFound);
      }
      return lookOpen(deps, task);
    // Tells nothing of whether the provider knows it.
    case "unasked":
    case "unseen":
    case "unreadable":
      return lookOpen(deps, task);
    default:
      return report satisfies never;
  }
};

/**
 * What whoever follows a task may know of it. A task of a project that the follower may not see
 * looks like one that does not exist.
 */
const asSeenBy = (deps: CommandDeps, task: Task, report: TaskReport | undefined): TaskReport => {
  if (report === undefined) return { kind: "unseen" };
  const { followedBy, account } = task;
  const isHidden =
    followedBy !== undefined &&
    "project" in report &&
    !deps.access.maySee(followedBy, account, report.project);
  return isHidden ? { kind: "missing" } : report;
};

/** What came of a look: when a run that goes on looks again, or why the task stays due. */
export type Look = { readonly nextLookAt: number } | { readonly error: unknown };

interface LookRequest {
  /** Absent: nothing can be seen, and the tasks rest until their deadline. */
  readonly account: Account | undefined;
  readonly open: readonly Task[];
  /** Whether more is due than a query shows: what was looked at then makes room for what is behind. */
  readonly isCrowded: boolean;
  /** Aborts when nothing new is to be begun. */
  readonly run: AbortSignal;
}

/** The pause before the next look by task id: those who wait for one task look at it together. */
const pausesOf = (deps: CommandDeps, open: readonly Task[]): ReadonlyMap<string, number> => {
  const pauses = new Map<string, number>();
  for (const { id, recordedAt } of open) {
    const pause = pauseBeforeLook(deps.clock.now() - recordedAt, deps.random);
    pauses.set(id, Math.min(pauses.get(id) ?? pause, pause));
  }
  return pauses;
};

const pauseAfter = (report: TaskReport, pause: number, isCrowded: boolean): number => {
  const asked = "retryAfterMs" in report ? (report.retryAfterMs ?? 0) : 0;
  return Math.max(asked, report.kind === "unasked" && !isCrowded ? UNASKED_PAUSE_MS : pause);
};

/**
 * Looks at open tasks of one account and acts on what is seen. A look that finds nothing new writes
 * nothing, unless the ledger is crowded.
 * @returns what came of each look, in the order of `open`
 */
export const lookAtTasks = async (
  deps: CommandDeps,
  { account, open, isCrowded, run }: LookRequest,
  signal: AbortSignal,
): Promise<readonly Look[]> => {
  const { reports, isListed } = account
    ? await readTasks(account, open, deps.random, signal)
    : NOTHING_SEEN;
  const now = deps.clock.now();
  const pauses = pausesOf(deps, open);
  // Tasks that one list tells of stay together, or each would soon be due, and read, by itself.
  const common = isListed ? Math.min(...pauses.values()) : undefined;
  const lookAt = async (task: Task): Promise<Look> => {
    if (run.aborted) return { nextLookAt: now };
    const report = asSeenBy(deps, task, reports.get(task.id));
    const pause = pauseAfter(report, common ?? pauses.get(task.id) ?? MAX_PAUSE_MS, isCrowded);
    try {
      await actOn(depsOfTask(deps, task), task, report);
      if (isCrowded) {
        const later = now + Math.min(pause, MAX_PAUSE_MS);
        await tasks.update(deps.ledger, taskKey(task), (current) => lookLater(current, later));
      }
      return { nextLookAt: now + pause };
    } catch (error) {
      return { error };
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  return Promise.all(open.map((task) => limit(() => lookAt(task))));
};
