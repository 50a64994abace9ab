import pLimit from "p-limit";
import {
  type Command,
  commandKey,
  commands,
  isBeforeItsLane,
  isEnded,
  splitCommandKey,
} from "../engine/command.ts";
import { readTask } from "../engine/follow.ts";
import { lanes } from "../engine/lane.ts";
import { pauseOfAge } from "../engine/poller/open-tasks.ts";
import type { Task } from "../engine/task.ts";
import { isoText } from "../events/event.ts";
import { readable } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { type RecordedTask, recordedTask, tasksOf } from "./command-tasks.ts";
import { createDueCommands, MAX_COMMANDS } from "./due-commands.ts";

const MAX_READS_AT_ONCE = 32;

/** A command in a lane. All but its name are absent if the command was not read. */
export interface LaneMember {
  readonly sender: string;
  readonly commandId: string;
  readonly operation?: string;
  readonly status?: string;
  readonly acceptedAt?: string;
}

export interface LaneView {
  readonly lane: string;
  /** `since`: when it got the lane; at the latest, if a waiting command has left the lane meanwhile. */
  readonly holder: LaneMember & { readonly since: string };
  /** In the order in which they entered the lane. */
  readonly waiting: readonly LaneMember[];
}

export interface FollowedTaskView {
  readonly account: string;
  readonly taskId: string;
  readonly sender: string;
  readonly commandId: string;
  readonly operation: string;
  /** When the command fails without the end of the task. */
  readonly deadline: string;
  /** Absent until the task is recorded, right after the provider's reply. */
  readonly recorded?: RecordedTask;
  /** When the poller checks an open task next, at the latest; later in an account with thousands of them. */
  readonly nextCheckBy?: string;
}

export interface OpenWork {
  /** When it was read, ISO 8601. */
  readonly at: string;
  /** Lanes with a command in flight, the longest held first. */
  readonly lanes: readonly LaneView[];
  /** Tasks without a known end, the oldest first. */
  readonly tasks: readonly FollowedTaskView[];
  /** Number of open commands that were read. */
  readonly commands: number;
  /** Whether there are more open commands: those that are due later are left out. */
  readonly more: boolean;
}

const laneMember = (key: string, known: ReadonlyMap<string, Command>): LaneMember => {
  const { sender, id: commandId } = splitCommandKey(key);
  const command = known.get(key);
  if (!command) return { sender, commandId };
  const { operation, state, acceptedAt } = command;
  return { sender, commandId, operation, status: state.status, acceptedAt: isoText(acceptedAt) };
};

const byTime =
  <T>(timeOf: (each: T) => string | undefined) =>
  (a: T, b: T): number =>
    // What has no time yet is the newest.
    (timeOf(a) ?? "~") < (timeOf(b) ?? "~") ? -1 : 1;

/** When a command got its lane. The lane's own time is newer if a waiting command has left it since. */
const heldSince = (changedAt: number, holder: Command | undefined): number => {
  const isWhole = holder !== undefined && holder.attempts.length === holder.attemptCount;
  return Math.min(changedAt, (isWhole && holder.attempts[0]?.startedAt) || changedAt);
};

const readLane = async (
  ledger: Ledger,
  name: string,
  known: ReadonlyMap<string, Command>,
): Promise<LaneView | undefined> => {
  const lane = (await readable(lanes.read(ledger, name)))?.value;
  if (lane?.holder === undefined) return undefined;
  const since = isoText(heldSince(lane.changedAt, known.get(lane.holder)));
  return {
    lane: name,
    holder: { ...laneMember(lane.holder, known), since },
    waiting: lane.waiting.map((key) => laneMember(key, known)),
  };
};

const nextCheckBy = ({ state, lookAt, recordedAt }: Task, now: number): number | undefined =>
  state.status === "open" ? Math.max(lookAt, now + pauseOfAge(now - recordedAt)) : undefined;

const followedTask = (
  { account, sender, id, operation, deadline }: Command,
  taskId: string,
  task: Task | undefined,
  now: number,
): FollowedTaskView => {
  const next = task && nextCheckBy(task, now);
  return {
    ...{ account, taskId, sender, commandId: id, operation, deadline: isoText(deadline) },
    ...(task && { recorded: recordedTask(task) }),
    ...(next !== undefined && { nextCheckBy: isoText(next) }),
  };
};

/**
 * Reads what is in progress: held lanes, and followed tasks. Costs a query of the due index, and a read of each
 * open command, each of their lanes, and two of each of their open tasks; a task of several commands takes three.
 * @param now epoch ms
 */
export const readOpenWork = async (ledger: Ledger, now: number): Promise<OpenWork> => {
  const { entries, isCut } = await createDueCommands(ledger)();
  const limit = pLimit(MAX_READS_AT_ONCE);
  const found = await limit.map(entries.slice(0, MAX_COMMANDS), ({ key }) =>
    readable(commands.read(ledger, key)),
  );
  const open = found.flatMap((stored) => (stored && !isEnded(stored.value) ? [stored.value] : []));
  const known = new Map(open.map((command) => [commandKey(command), command]));
  const inLanes = open.filter((command) => !isBeforeItsLane(command));
  const laneViews = await limit.map(new Set(inLanes.map(({ lane }) => lane)), (lane) =>
    readLane(ledger, lane, known),
  );
  const followed = open.flatMap((command) =>
    tasksOf(command).flatMap(({ id, end }) => (end ? [] : [{ command, id }])),
  );
  const tasks = await limit.map(followed, async ({ command, id }) =>
    followedTask(command, id, await readable(readTask(ledger, command, id)), now),
  );
  return {
    at: isoText(now),
    lanes: laneViews
      .filter((lane) => lane !== undefined)
      .toSorted(byTime(({ holder }) => holder.since)),
    tasks: tasks.toSorted(byTime(({ recorded }) => recorded?.since)),
    commands: open.length,
    more: isCut || entries.length > MAX_COMMANDS,
  };
};
