import pLimit from "p-limit";
import type { Random } from "../../platform/ports/random.ts";
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
import {
  leaveForNow,
  MAX_AT_ONCE,
  PAUSE_AFTER_WORK_MS,
  type RunMemory,
  splitKey,
} from "./due-entries.ts";
import type { TaskReport } from "./read-tasks.ts";
import { type ManyReports, readTasks } from "./read-tasks.ts";
import { depsOfTask, settleTask, tellOfTask } from "./task-end.ts";

/** The shortest pause between two looks at one task. */
const FLOOR_MS = 2_000;
/** As often as the poller's schedule: no look is missed by a run that ends. */
const MAX_PAUSE_MS = 60_000;
/** Looking after each further fifth of its age finds an end late by a fifth of the whole at most. */
const PART_OF_AGE = 0.2;
/** Spreads the looks of tasks that began together: the pause is up to a quarter shorter. */
const JITTER = 0.25;

/** When to look again at a task of this age: fast at first, slower with age, never too slow. */
export const pauseBeforeLook = (ageMs: number, random: Random): number => {
  const pause = Math.min(MAX_PAUSE_MS, Math.max(FLOOR_MS, ageMs * PART_OF_AGE));
  return Math.round(pause * (1 - JITTER * random.fraction()));
};

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
type Look = { readonly nextLookAt: number } | { readonly error: unknown };

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
const lookAtTasks = async (
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

/** The due tasks of one account. */
export interface LookRound {
  readonly account: string;
  /** Of their due entries. */
  readonly keys: readonly string[];
  /** Whether more is due than a query shows. */
  readonly isCrowded: boolean;
}

export interface RoundSignals {
  /** Aborts when nothing new is to be begun. */
  readonly run: AbortSignal;
  /** Called when the provider is to be asked, for the signal to ask it under. */
  readonly askFor: () => AbortSignal;
}

interface OpenTask {
  readonly key: string;
  readonly task: Task;
}

/** What fails is logged with the task's command, which its key does not show. */
const tellOrLeave = async (
  deps: CommandDeps,
  memory: RunMemory,
  key: string,
  task: Task,
): Promise<void> => {
  const untoldSince = tasks.dueAt(task);
  if (untoldSince !== undefined) memory.untoldSince.set(key, untoldSince);
  const own = depsOfTask(deps, task);
  await tellOfTask(own, task).catch((error) => leaveForNow(own, memory, key, error));
};

/** The open ones; one that has ended already is told of at once. */
const readOpenTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  keys: readonly string[],
  { run }: RoundSignals,
): Promise<readonly OpenTask[]> => {
  const open: OpenTask[] = [];
  const readOne = async (key: string): Promise<void> => {
    if (run.aborted) return;
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    try {
      const task = (await tasks.read(deps.ledger, splitKey(key)[1]))?.value;
      if (task?.state.status === "open") open.push({ key, task });
      else if (task) await tellOrLeave(deps, memory, key, task);
    } catch (error) {
      leaveForNow(deps, memory, key, error);
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  await Promise.all(keys.map((key) => limit(() => readOne(key))));
  return open;
};

/** An account that is in trouble keeps its tasks waiting, and nobody else's. */
const lookAtAll = async (
  deps: CommandDeps,
  { account: name, isCrowded }: LookRound,
  open: readonly Task[],
  { run, askFor }: RoundSignals,
): Promise<readonly Look[]> => {
  try {
    const account = deps.accountOf(name);
    if (!account) deps.log.warn("tasks of an account that does not exist", { account: name });
    return await lookAtTasks(deps, { account, open, isCrowded, run }, askFor());
  } catch (error) {
    return open.map(() => ({ error }));
  }
};

/** Looks once at the due tasks of one account. Never rejects: what goes wrong stays due. */
export const lookRound = async (
  deps: CommandDeps,
  memory: RunMemory,
  round: LookRound,
  signals: RoundSignals,
): Promise<void> => {
  const open = await readOpenTasks(deps, memory, round.keys, signals);
  if (open.length === 0) return;
  const openTasks = open.map(({ task }) => task);
  const looks = await lookAtAll(deps, round, openTasks, signals);
  for (const [index, { key, task }] of open.entries()) {
    const look = looks[index] ?? { error: new Error("the task was not looked at") };
    if ("error" in look) leaveForNow(depsOfTask(deps, task), memory, key, look.error);
    else memory.notBefore.set(key, look.nextLookAt);
  }
};
