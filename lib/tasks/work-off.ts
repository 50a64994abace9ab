import pLimit from "p-limit";
import type { CommandDeps } from "../commands/deps.ts";
import { lookAtCommand, lookAtLane } from "../commands/look.ts";
import { aiTasks } from "../ledger/ai-task.ts";
import { budgets } from "../ledger/budget.ts";
import { commands } from "../ledger/command.ts";
import { lanes } from "../ledger/lane.ts";
import { priceItems, priceRuns } from "../ledger/price.ts";
import { type Task, tasks } from "../ledger/task.ts";
import { thresholdSyncs } from "../ledger/threshold-sync.ts";
import type { DueEntry } from "../ports/ledger.ts";
import { type Look, lookAtTasks } from "./look-at-tasks.ts";
import { tellOfTask } from "./settle.ts";

/** An entry that could not be worked off stays due; this run leaves it alone for a while. */
const PAUSE_AFTER_ERROR_MS = 5_000;
/** The index may show an entry for a while after it was worked off; nothing is due again so soon. */
const PAUSE_AFTER_WORK_MS = 1_000;
const MAX_AT_ONCE = 8;

/**
 * What one run of the poller remembers: when to look again at what stays due. A look that finds
 * nothing new writes nothing, so the ledger cannot tell.
 */
export interface RunMemory {
  /** Not before this time (epoch ms), by key of the due entry. */
  readonly notBefore: Map<string, number>;
}

export const createRunMemory = (): RunMemory => ({ notBefore: new Map() });

/** When this run should take the entry up, epoch ms. */
export const turnOf = (entry: DueEntry, memory: RunMemory): number =>
  Math.max(entry.dueAt, memory.notBefore.get(entry.key) ?? 0);

const splitKey = (key: string): readonly [kind: string, rest: string] => {
  const at = key.indexOf("#");
  return [key.slice(0, at), key.slice(at + 1)];
};

const isTask = (key: string): boolean => splitKey(key)[0] === tasks.kind;

const leaveForNow = (deps: CommandDeps, memory: RunMemory, key: string, error: unknown): void => {
  memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_ERROR_MS);
  deps.log.warn("due entry not worked off, it stays due", {
    key,
    errorKind: error instanceof Error ? error.name : "unknown",
    errorMessage: error instanceof Error ? error.message : String(error),
  });
};

/** Works on every key with bounded concurrency; one that fails stays due and stops no other. */
const onEach = async (
  deps: CommandDeps,
  memory: RunMemory,
  keys: readonly string[],
  work: (key: string) => Promise<void>,
): Promise<void> => {
  const limit = pLimit(MAX_AT_ONCE);
  const workOn = async (key: string): Promise<void> => {
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    await work(key).catch((error) => leaveForNow(deps, memory, key, error));
  };
  await Promise.all(keys.map((key) => limit(() => workOn(key))));
};

/** Records of the standing jobs, and budgets, are due while an event of theirs is not published. */
const OUTBOXES = new Map(
  [thresholdSyncs, priceItems, priceRuns, aiTasks, budgets].map(({ kind, publish }) => [
    kind,
    publish,
  ]),
);

const workOffOther = async (deps: CommandDeps, entryKey: string): Promise<void> => {
  const [kind, key] = splitKey(entryKey);
  const publishOutbox = OUTBOXES.get(kind);
  if (publishOutbox) return publishOutbox(deps, key);
  if (kind === commands.kind) return lookAtCommand(deps, key);
  if (kind === lanes.kind) return lookAtLane(deps, key);
  throw new Error(`nobody looks after ledger items of kind ${kind}`);
};

interface OpenTask {
  readonly key: string;
  readonly task: Task;
}

/** Open tasks by account; one that has ended already is told of at once. */
const readOpenTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly OpenTask[]>> => {
  const byAccount = new Map<string, OpenTask[]>();
  await onEach(deps, memory, keys, async (key) => {
    const task = (await tasks.read(deps.ledger, splitKey(key)[1]))?.value;
    if (task?.state.status !== "open") return task && tellOfTask(deps, task);
    byAccount.set(task.account, [...(byAccount.get(task.account) ?? []), { key, task }]);
  });
  return byAccount;
};

/** An account that is in trouble keeps its tasks waiting, and nobody else's. */
const lookAtAccount = async (
  deps: CommandDeps,
  name: string,
  open: readonly OpenTask[],
  signal: AbortSignal,
): Promise<(task: Task) => Look> => {
  const account = deps.accountOf(name);
  if (!account) deps.log.warn("tasks of an account that does not exist", { account: name });
  const tasksOfAccount = open.map(({ task }) => task);
  try {
    const looks = await lookAtTasks(deps, account, tasksOfAccount, signal);
    return (task) => looks.get(task.id) ?? { error: new Error("the task was not looked at") };
  } catch (error) {
    return () => ({ error });
  }
};

const workOffTasks = async (
  deps: CommandDeps,
  memory: RunMemory,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  for (const [name, open] of await readOpenTasks(deps, memory, keys)) {
    const lookOf = await lookAtAccount(deps, name, open, signal);
    for (const { key, task } of open) {
      const look = lookOf(task);
      if ("error" in look) leaveForNow(deps, memory, key, look.error);
      else memory.notBefore.set(key, look.nextLookAt);
    }
  }
};

/** Works off what is due: commands and lanes first, because they let others go on. */
export const workOff = async (
  deps: CommandDeps,
  memory: RunMemory,
  due: readonly DueEntry[],
  signal: AbortSignal,
): Promise<void> => {
  const keys = due.map(({ key }) => key);
  const others = keys.filter((key) => !isTask(key));
  await onEach(deps, memory, others, (key) => workOffOther(deps, key));
  await workOffTasks(deps, memory, keys.filter(isTask), signal);
};
