import { readAttempts } from "../engine/attempt-history.ts";
import {
  type Command,
  commandKey,
  commands,
  isBeforeItsLane,
  isEnded,
  splitCommandKey,
} from "../engine/command.ts";
import { lanes } from "../engine/lane.ts";
import { type Rejected, readRejections } from "../engine/rejection.ts";
import { type Task, taskKey, tasks, UNKNOWN_FOR_MS } from "../engine/task.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { pauseEndOf, rateLimits } from "../provider/rate-limit.ts";
import {
  type CommandView,
  instant,
  type RejectionView,
  rejectionView,
  viewOf,
  type WaitsFor,
} from "./command-view.ts";

const laneWait = async (ledger: Ledger, command: Command): Promise<WaitsFor | undefined> => {
  const lane = (await lanes.read(ledger, command.lane))?.value;
  const index = lane?.waiting.indexOf(commandKey(command)) ?? -1;
  // The command has reached the front of its lane since it was read.
  if (lane?.holder === undefined || index === -1) return undefined;
  const { sender, id } = splitCommandKey(lane.holder);
  return { for: "lane", ahead: index + 1, holder: { sender, commandId: id } };
};

const commandsWait = async (
  ledger: Ledger,
  { sender, after = [] }: Command,
): Promise<WaitsFor | undefined> => {
  const found = await Promise.all(
    after.map((id) => commands.read(ledger, commandKey({ sender, id }))),
  );
  const commandIds = after.filter((_, index) => {
    const other = found[index];
    return !other || !isEnded(other.value);
  });
  return commandIds.length > 0 ? { for: "others", commandIds } : undefined;
};

/** Reads the command's own item for a task; another command may have an item for the same task. */
const readTask = async (
  ledger: Ledger,
  command: Command,
  id: string,
): Promise<Task | undefined> => {
  const { account, sender } = command;
  const key = commandKey(command);
  const beside = { account, id, command: key, followedBy: sender };
  for (const item of [{ account, id }, beside]) {
    const task = (await tasks.read(ledger, taskKey(item)))?.value;
    if (task?.command === key && task.id === id) return task;
  }
  return undefined;
};

const tasksWait = async (ledger: Ledger, command: Command): Promise<WaitsFor> => {
  const followed = command.state.status === "following" ? command.state.tasks : [];
  const taskIds = followed.filter(({ end }) => !end).map(({ id }) => id);
  const found = await Promise.all(taskIds.map((id) => readTask(ledger, command, id)));
  const unknown = found.flatMap((task) => {
    if (task?.state.status !== "open" || task.state.missingSince === undefined) return [];
    const { missingSince } = task.state;
    const until = Math.min(missingSince + UNKNOWN_FOR_MS, command.deadline);
    return [{ taskId: task.id, since: instant(missingSince), until: instant(until) }];
  });
  return { for: "tasks", taskIds, ...(unknown.length > 0 && { unknown }) };
};

const waitsFor = async (ledger: Ledger, command: Command): Promise<WaitsFor | undefined> => {
  const { state } = command;
  switch (state.status) {
    case "accepted":
    case "waiting":
      return isBeforeItsLane(command) ? commandsWait(ledger, command) : laneWait(ledger, command);
    case "running":
      if (state.lease) return { for: "reply", until: instant(state.lease.until) };
      return {
        for: "next-attempt",
        until: instant(state.notBefore),
        ...(state.because !== undefined && { because: state.because }),
      };
    case "following":
      return tasksWait(ledger, command);
    case "succeeded":
    case "failed":
    case "cancelled":
      return undefined;
    default:
      return state satisfies never;
  }
};

/** End of the pause of an open command's account, epoch ms; undefined without a pause. */
const pausedUntil = async (
  ledger: Ledger,
  command: Command,
  now: number,
): Promise<number | undefined> => {
  if (isEnded(command)) return undefined;
  const rateLimit = (await rateLimits.read(ledger, command.account))?.value;
  return rateLimit && pauseEndOf(rateLimit, now);
};

const viewNow = async (ledger: Ledger, command: Command, now: number): Promise<CommandView> =>
  viewOf(command, {
    attempts: await readAttempts(ledger, commandKey(command), command),
    waitsFor: await waitsFor(ledger, command),
    pausedUntil: await pausedUntil(ledger, command, now),
  });

/**
 * Reads a command with every attempt and what it waits for; undefined for an unknown command.
 * @param now epoch ms
 */
export const readView = async (
  ledger: Ledger,
  key: string,
  now: number,
): Promise<CommandView | undefined> => {
  const command = (await commands.read(ledger, key))?.value;
  return command && viewNow(ledger, command, now);
};

/** The status of the requests under one id. */
export type RequestView =
  | ({ readonly kind: "command" } & CommandView & Others)
  | ({ readonly kind: "rejected" } & RejectionView & Others);

/** Rejected requests with the same id, the oldest first; absent if there are none. */
interface Others {
  readonly rejections?: readonly RejectionView[];
}

const others = (rejected: readonly Rejected[]): Others =>
  rejected.length > 0 ? { rejections: rejected.map(rejectionView) } : {};

/**
 * Reads the command with an id and the rejections under the same id; without a command, the newest
 * rejection. Also finds a rejection by the id of its event.
 * @param eventId selects one request: returns its rejection, if it was rejected
 * @returns undefined if the ledger has neither
 */
export const readState = async (
  ledger: Ledger,
  { sender, id, now }: { readonly sender: string; readonly id: string; readonly now: number },
  eventId?: string,
): Promise<RequestView | undefined> => {
  const command = (await commands.read(ledger, commandKey({ sender, id })))?.value;
  // A request that was rejected at first, and accepted when its message was redelivered, is this command.
  const rejected = (await readRejections(ledger, sender, id)).filter(
    (rejection) => !command || rejection.eventId !== command.causationId,
  );
  const asked =
    eventId === undefined ? undefined : rejected.find((each) => each.eventId === eventId);
  if (asked) return { kind: "rejected", ...rejectionView(asked) };
  if (command) {
    return { kind: "command", ...(await viewNow(ledger, command, now)), ...others(rejected) };
  }
  const newest = rejected.at(-1);
  return newest && { kind: "rejected", ...rejectionView(newest), ...others(rejected.slice(0, -1)) };
};
