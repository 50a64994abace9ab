import pLimit from "p-limit";
import type { Account } from "../accounts/account.ts";
import type { CommandDeps } from "../commands/deps.ts";
import { commands, isEnded } from "../ledger/command.ts";
import { abandonTask, noteMissing, type Task, taskKey, tasks } from "../ledger/task.ts";
import { pauseBeforeLook } from "./look-schedule.ts";
import { type ManyReports, readTasks } from "./read-many.ts";
import { settleTask } from "./settle.ts";
import type { TaskReport } from "./task-report.ts";

/** The provider may show a new task late; one that it has not known for so long is gone. */
const MISSING_FOR_MS = 5 * 60 * 1000;
const MAX_AT_ONCE = 8;
const NOTHING_SEEN: ManyReports = { reports: new Map(), isListed: false };

const lookMissing = async (deps: CommandDeps, task: Task): Promise<void> => {
  const now = deps.clock.now();
  const since = task.state.status === "open" ? (task.state.missingSince ?? now) : now;
  if (now - since >= MISSING_FOR_MS) {
    const message = "the provider does not know the task";
    return settleTask(deps, task, { status: "unknown", message });
  }
  await tasks.update(deps.ledger, taskKey(task), (current) => noteMissing(current, since));
};

const lookOpen = async (deps: CommandDeps, task: Task): Promise<void> => {
  if (task.state.status === "open" && task.state.missingSince !== undefined) {
    await tasks.update(deps.ledger, taskKey(task), (current) => noteMissing(current, undefined));
  }
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

/**
 * Looks at open tasks of one account and acts on what is seen. A look that finds nothing new writes
 * nothing. Without the account nothing can be seen, and the tasks rest until their deadline.
 * @returns what came of each look, by task id
 */
export const lookAtTasks = async (
  deps: CommandDeps,
  account: Account | undefined,
  open: readonly Task[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Look>> => {
  const { reports, isListed } = account ? await readTasks(account, open, signal) : NOTHING_SEEN;
  const now = deps.clock.now();
  const pauseOf = ({ recordedAt }: Task) => pauseBeforeLook(now - recordedAt, deps.random);
  // Tasks that one list tells of stay together, or each would soon be due, and read, by itself.
  const common = isListed ? Math.min(...open.map(pauseOf)) : undefined;
  const lookAt = async (task: Task): Promise<Look> => {
    const report = asSeenBy(deps, task, reports.get(task.id));
    const asked = report.kind === "unreadable" ? (report.retryAfterMs ?? 0) : 0;
    const nextLookAt = now + Math.max(common ?? pauseOf(task), asked);
    try {
      await actOn(deps, task, report);
      return { nextLookAt };
    } catch (error) {
      return { error };
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  const looks = open.map((task) => limit(async () => [task.id, await lookAt(task)] as const));
  return new Map(await Promise.all(looks));
};
