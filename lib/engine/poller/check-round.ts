import pLimit from "p-limit";
import type { CommandDeps } from "../deps.ts";
import { type Task, tasks } from "../task.ts";
import { type Look, lookAtTasks } from "./check-tasks.ts";
import {
  leaveForNow,
  MAX_AT_ONCE,
  PAUSE_AFTER_WORK_MS,
  type RunMemory,
  splitKey,
} from "./run-memory.ts";
import { tellOfTask } from "./task-end.ts";
import { depsOfTask } from "./task-log.ts";

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
