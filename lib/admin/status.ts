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

const laneBefore = async (ledger: Ledger, command: Command): Promise<WaitsFor | undefined> => {
  const lane = (await lanes.read(ledger, command.lane))?.value;
  const index = lane?.waiting.indexOf(commandKey(command)) ?? -1;
  // It holds the lane by now.
  if (lane?.holder === undefined || index === -1) return undefined;
  const { sender, id } = splitCommandKey(lane.holder);
  return { for: "lane", ahead: index + 1, holder: { sender, commandId: id } };
};

const othersBefore = async (
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

/** Reads the command's own item of a task, which may stand beside that of another command. */
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

const tasksBefore = async (ledger: Ledger, command: Command): Promise<WaitsFor> => {
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
      return isBeforeItsLane(command) ? othersBefore(ledger, command) : laneBefore(ledger, command);
    case "running":
      if (state.lease) return { for: "reply", until: instant(state.lease.until) };
      return {
        for: "next-attempt",
        until: instant(state.notBefore),
        ...(state.because !== undefined && { because: state.because }),
      };
    case "following":
      return tasksBefore(ledger, command);
    case "succeeded":
    case "failed":
    case "cancelled":
      return undefined;
    default:
      return state satisfies never;
  }
};

/** When the account of an open command may send again, epoch ms; undefined: now. */
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
 * A command with its whole history and what it waits for; undefined when there is none.
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

/** Other requests under the same id that were rejected, the oldest first; absent: none. */
interface Others {
  readonly rejections?: readonly RejectionView[];
}

const others = (rejected: readonly Rejected[]): Others =>
  rejected.length > 0 ? { rejections: rejected.map(rejectionView) } : {};

/**
 * The command of that id with the rejections under it, or the newest rejection where there is no
 * command. The id of an event that was rejected leads to its rejection too.
 * @param eventId names one request: if that was rejected, its rejection
 * @returns undefined when nothing is recorded
 */
export const readState = async (
  ledger: Ledger,
  { sender, id, now }: { readonly sender: string; readonly id: string; readonly now: number },
  eventId?: string,
): Promise<RequestView | undefined> => {
  const command = (await commands.read(ledger, commandKey({ sender, id })))?.value;
  // A request that was rejected, and accepted when its message came again, is that command.
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
