import pLimit from "p-limit";
import type { Stored } from "../../ledger/record.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import type { Random } from "../../platform/ports/random.ts";
import { commands, isEnded, isEndedByTasks } from "../command.ts";
import { expireCommand } from "../dependencies.ts";
import { type CommandDeps, depsFor } from "../deps.ts";
import { handOver } from "../finish.ts";
import {
  abandonTask,
  markFound,
  markMissing,
  type Task,
  taskKey,
  tasks,
  UNKNOWN_FOR_MS,
} from "../task.ts";
import { leaveDue } from "./entry-work.ts";
import {
  type AccountTasks,
  nextListAfter,
  type OpenTask,
  openTask,
  pauseBeforeCheck,
  pauseBeforeList,
  unreadTask,
} from "./open-tasks.ts";
import {
  markHandled,
  PAUSE_AFTER_WORK_MS,
  type PollerMemory,
  splitKey,
  tasksOf,
} from "./poller-memory.ts";
import { readTasks, type TaskReport, type TaskReports } from "./read-tasks.ts";
import { depsOfTask, publishTaskEnd, recordAndPublishEnd, recordKnownEnds } from "./task-end.ts";

/** Number of tasks that are read, or recorded as ended, at the same time. */
const MAX_AT_ONCE = 32;
/** Number of items of open tasks that a round reads before it asks the provider; of more tasks, a tenth. */
const MAX_ITEMS_AT_ONCE = 1_000;
/** Pause of tasks that were not read because the account was in trouble. */
const SKIPPED_PAUSE_MS = 2_000;
const NOTHING_SEEN: TaskReports = { reports: new Map(), isListed: false };

const recordMissing = async (deps: CommandDeps, known: Stored<Task>): Promise<Stored<Task>> => {
  const now = deps.clock.now();
  const change = (current: Task): Task => markMissing(current, now);
  const stored = await tasks.update(deps.ledger, taskKey(known.value), change, known);
  const { state } = stored.value;
  if (state.status !== "open" || now - (state.missingSince ?? now) < UNKNOWN_FOR_MS) return stored;
  const message = "the provider does not know the task";
  return recordAndPublishEnd(deps, stored, { status: "unknown", message });
};

/**
 * Ends the command of a task at its deadline, with the ends of its tasks that are recorded already.
 * @returns whether no command waits for the task any more
 */
const expireOverdue = async (deps: CommandDeps, task: Task): Promise<boolean> => {
  if (deps.clock.now() < task.deadline) return false;
  const found = await commands.read(deps.ledger, task.command);
  if (!found) return true;
  const its = depsFor(deps, found.value);
  const isFollowing = found.value.state.status === "following";
  const stored = isFollowing ? await recordKnownEnds(its, found) : found;
  const { value: command } = stored;
  // A command in another state has a due time of its own.
  if (!isEnded(command)) return isFollowing && expireCommand(its, stored);
  // While the bus does not take the events of its tasks, nothing else opens its lane.
  if (isEndedByTasks(command.state)) await handOver(its, command.lane, task.command);
  return true;
};

/** Gives up a task after its deadline, with its command, unless that has ended with it. */
const abandonOverdue = async (deps: CommandDeps, known: Stored<Task>): Promise<Stored<Task>> => {
  const { value: task } = known;
  if (!(await expireOverdue(deps, task))) return known;
  const ended = await publishTaskEnd(deps, known);
  if (ended.value.state.status !== "open") return ended;
  const change = (current: Task): Task => abandonTask(current, deps.clock.now());
  return tasks.update(deps.ledger, taskKey(task), change, known);
};

/** Publishes the end of a task, if any. While the bus does not take it, the command still ends at its deadline. */
const publishEnd = async (deps: CommandDeps, stored: Stored<Task>): Promise<Stored<Task>> => {
  try {
    return await publishTaskEnd(deps, stored);
  } catch (error) {
    await expireOverdue(deps, stored.value);
    throw error;
  }
};

/** @returns the task as it is recorded now */
const applyReport = async (
  deps: CommandDeps,
  task: Stored<Task>,
  report: TaskReport,
): Promise<Stored<Task>> => {
  switch (report.kind) {
    case "ended":
      return recordAndPublishEnd(deps, task, report.end);
    case "missing":
      return recordMissing(deps, task);
    case "open": {
      const { value } = task;
      const isFoundAgain = markFound(value) !== value;
      const found =
        isFoundAgain && (await tasks.update(deps.ledger, taskKey(value), markFound, task));
      return abandonOverdue(deps, found || task);
    }
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
  { item }: OpenTask,
  report: TaskReport | undefined,
): TaskReport => {
  if (report === undefined) return { kind: "unseen" };
  if (item?.value.followedBy === undefined || !("project" in report)) return report;
  const { followedBy, account } = item.value;
  return deps.access.maySee(followedBy, account, report.project) ? report : { kind: "missing" };
};

/** The ages of tasks by their ids, ms; of several commands that wait for one task, the newest counts. */
const agesOf = (now: number, open: readonly OpenTask[]): ReadonlyMap<string, number> => {
  const ages = new Map<string, number>();
  for (const { id, recordedAt } of open) {
    const age = now - recordedAt;
    ages.set(id, Math.min(ages.get(id) ?? age, age));
  }
  return ages;
};

/** The pause before the next check by task id: commands that wait for one task are checked together. */
const pausesOf = (
  ages: ReadonlyMap<string, number>,
  { pages }: AccountTasks,
  isListed: boolean,
  random: Random,
): ReadonlyMap<string, number> => {
  const all = [...ages];
  const common =
    isListed && all.length > 1 ? pauseBeforeList([...ages.values()], pages, random) : undefined;
  return new Map(all.map(([id, age]) => [id, common ?? pauseBeforeCheck(age, random)]));
};

/** One check of the due tasks of one account. */
export interface AccountCheck {
  readonly account: string;
  /** The tasks' due entries. */
  readonly entries: readonly DueEntry[];
  /** Aborts when the run may begin nothing new. */
  readonly run: AbortSignal;
  /** Takes the lease before an end is recorded. @returns false when another run is at work */
  readonly claim: () => Promise<boolean>;
  /** Called before the first request to the provider. @returns the signal for all requests */
  readonly startRequests: () => AbortSignal;
}

/**
 * Handles the item of a due task. Publishes the end of one that ended before: if a process died after it had recorded that
 * in the command alone, the item is still open.
 * @returns the task, if it is open
 */
const takeItem = async (
  deps: CommandDeps,
  memory: PollerMemory,
  entry: DueEntry,
): Promise<OpenTask | undefined> => {
  // An error after the read is logged with the task's command, which the key does not show.
  let own = deps;
  try {
    const stored = await tasks.read(deps.ledger, splitKey(entry.key)[1]);
    if (stored?.value.state.status === "open" && !memory.mayHideEnds)
      return openTask(entry, stored);
    if (stored) {
      own = depsOfTask(deps, stored.value);
      const { state } = stored.value;
      if ("told" in state && !state.told) memory.unpublishedSince.set(entry.key, state.endedAt);
      const published = await publishEnd(own, stored);
      if (published.value.state.status === "open") return openTask(entry, published);
    }
    markHandled(memory, entry);
  } catch (error) {
    leaveDue(own, memory, entry.key, error);
  }
  return undefined;
};

/**
 * Returns the open tasks, as the process remembers them, by their items, or by their due entries. A round reads a
 * bounded number of items, the oldest first: of 100,000 open tasks, a new process would read for a minute. What is left
 * is read when it has ended, or in a later round, because only the item shows that its deadline has passed.
 */
const openTasksOf = async (
  deps: CommandDeps,
  memory: PollerMemory,
  { account, entries, run }: AccountCheck,
): Promise<readonly OpenTask[]> => {
  const remembered = tasksOf(memory, account).open;
  const readOne = async (entry: DueEntry): Promise<void> => {
    const { key } = entry;
    if (run.aborted) return;
    memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_WORK_MS);
    const known = remembered.get(key);
    remembered.delete(key);
    const task = await takeItem(deps, memory, entry);
    if (task)
      remembered.set(key, { ...task, checkAt: known?.checkAt, createdAt: known?.createdAt });
  };
  let left = Math.max(MAX_ITEMS_AT_ONCE, entries.length / 10);
  const toRead: DueEntry[] = [];
  for (const entry of entries) {
    const known = remembered.get(entry.key);
    if (known?.item) continue;
    const unread = known ?? unreadTask(entry);
    left -= 1;
    if (unread && left < 0) remembered.set(entry.key, unread);
    else toRead.push(entry);
  }
  const limit = pLimit(MAX_AT_ONCE);
  await Promise.all(toRead.map((entry) => limit(() => readOne(entry))));
  return entries.flatMap(({ key }) => remembered.get(key) ?? []);
};

/** Applies a report to one task, and remembers the task if it is still open. */
const checkOne = async (
  deps: CommandDeps,
  { memory, own }: { readonly memory: PollerMemory; readonly own: AccountTasks },
  known: OpenTask,
  report: TaskReport,
): Promise<void> => {
  const { entry } = known;
  const createdAt = (report.kind === "open" ? report.createdAt : undefined) ?? known.createdAt;
  const needsItem = report.kind === "ended" || report.kind === "missing";
  if (!known.item && !needsItem) {
    own.open.set(entry.key, { ...known, createdAt });
    return;
  }
  // What follows may fail halfway; the next check then reads the item again.
  own.open.delete(entry.key);
  const task = known.item ? known : await takeItem(deps, memory, entry);
  if (!task?.item) return;
  const its = depsOfTask(deps, task.item.value);
  try {
    const item = await applyReport(its, task.item, report);
    if (item.value.state.status !== "open") return markHandled(memory, entry);
    own.open.set(entry.key, { ...known, item, createdAt });
  } catch (error) {
    leaveDue(its, memory, entry.key, error);
  }
};

/** The latest time of the next check, epoch ms: the check at its deadline expires the command. */
const latestCheck = ({ item }: OpenTask, now: number): number =>
  item && item.value.deadline > now ? item.value.deadline : Number.POSITIVE_INFINITY;

/** Lets open tasks that had a pause of their own wait for the next list too, also when this one has failed. */
const postponeOthers = ({ open, nextListAt }: AccountTasks, checked: readonly OpenTask[]): void => {
  const own = new Set(checked.map(({ entry }) => entry.key));
  for (const [key, each] of open) {
    const checkAt = Math.max(each.checkAt ?? 0, nextListAt);
    if (!own.has(key)) open.set(key, { ...each, checkAt });
  }
};

/**
 * Plans the next check of the tasks that are still open.
 * @param startedAt when the round began, epoch ms: it read the tasks that were due then
 */
const planChecks = (
  deps: CommandDeps,
  { memory, own }: { readonly memory: PollerMemory; readonly own: AccountTasks },
  checked: readonly OpenTask[],
  { reports, isListed, startedAt }: TaskReports & { readonly startedAt: number },
): void => {
  const now = deps.clock.now();
  const plannedAt = new Map(checked.map(({ entry, checkAt }) => [entry.key, checkAt ?? 0]));
  const open = checked.flatMap(({ entry }) => own.open.get(entry.key) ?? []);
  const pauses = pausesOf(agesOf(now, open), own, isListed, deps.random);
  if (isListed) own.nextListAt = nextListAfter(now, own.pages);
  for (const each of open) {
    const { id } = each;
    const { key } = each.entry;
    const report = reports.get(id);
    const pause = report?.kind === "skipped" ? SKIPPED_PAUSE_MS : (pauses.get(id) ?? 0);
    const planned = plannedAt.get(key) ?? 0;
    const latest = latestCheck(each, now);
    // A task that was not due, and was in no list, keeps its time.
    const checkAt = !report && planned > startedAt ? planned : now + pause;
    own.open.set(key, { ...each, checkAt: Math.min(checkAt, latest) });
    memory.notBefore.delete(key);
    const requested = report && "retryAfterMs" in report && report.retryAfterMs;
    if (requested) memory.notBefore.set(key, Math.min(now + requested, latest));
  }
  if (isListed) postponeOthers(own, checked);
};

const checkOpenTasks = async (
  deps: CommandDeps,
  memory: PollerMemory,
  { account: name, run, startRequests, claim }: AccountCheck,
  open: readonly OpenTask[],
): Promise<void> => {
  const account = deps.accountOf(name);
  if (!account)
    deps.log.warn("tasks not checked: their account is not in the accounts file", {
      account: name,
    });
  const own = tasksOf(memory, name);
  const now = deps.clock.now();
  // At its deadline a task is given up, whatever the provider answers to another command that waits for it.
  const isOverdue = ({ item }: OpenTask): boolean =>
    item !== undefined && item.value.deadline <= now;
  const wanted = open.filter((each) => !isOverdue(each));
  // Without an account no task can be read, and the tasks stay open until their deadline.
  const seen =
    account && wanted.length > 0
      ? await readTasks(account, wanted, { memory: own, random: deps.random, now }, startRequests())
      : NOTHING_SEEN;
  const hasNews =
    wanted.length < open.length || [...seen.reports.values()].some(({ kind }) => kind === "ended");
  if (hasNews && !(await claim())) return;
  const limit = pLimit(MAX_AT_ONCE);
  const apply = async (each: OpenTask): Promise<void> => {
    if (run.aborted) return;
    const report = isOverdue(each)
      ? ({ kind: "unseen" } as const)
      : asSeenByFollower(deps, each, seen.reports.get(each.id));
    await checkOne(deps, { memory, own }, each, report);
  };
  await Promise.all(open.map((each) => limit(() => apply(each))));
  planChecks(deps, { memory, own }, open, { ...seen, startedAt: now });
};

/**
 * Checks the due tasks of one account once. A check that finds nothing new writes nothing. Never rejects: a
 * failed check leaves its task due.
 */
export const checkTasks = async (
  deps: CommandDeps,
  memory: PollerMemory,
  check: AccountCheck,
): Promise<void> => {
  const open = await openTasksOf(deps, memory, check);
  if (open.length === 0) return;
  try {
    await checkOpenTasks(deps, memory, check, open);
  } catch (error) {
    for (const { entry, item } of open) {
      leaveDue(item ? depsOfTask(deps, item.value) : deps, memory, entry.key, error);
    }
  }
};
