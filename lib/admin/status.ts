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
import { isoText } from "../events/event.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { rateLimits } from "../provider/rate-limit.ts";
import { pauseEndOf } from "../provider/rate-limiter.ts";
import { readTasksOf, type TaskView, taskViews } from "./command-tasks.ts";
import {
  type CommandView,
  type RejectionView,
  rejectionView,
  viewOf,
  type WaitsFor,
} from "./command-view.ts";
import { eventsOf } from "./derived-events.ts";

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

const tasksWait = (views: readonly TaskView[]): WaitsFor => {
  const open = views.filter(({ end }) => !end);
  const unknown = open.flatMap(({ id, recorded }) =>
    recorded?.missingSince !== undefined && recorded.givenUpAt !== undefined
      ? [{ taskId: id, since: recorded.missingSince, until: recorded.givenUpAt }]
      : [],
  );
  return {
    for: "tasks",
    taskIds: open.map(({ id }) => id),
    ...(unknown.length > 0 && { unknown }),
  };
};

const waitsFor = async (
  ledger: Ledger,
  command: Command,
  views: readonly TaskView[],
): Promise<WaitsFor | undefined> => {
  const { state } = command;
  switch (state.status) {
    case "accepted":
    case "waiting":
      return isBeforeItsLane(command) ? commandsWait(ledger, command) : laneWait(ledger, command);
    case "running":
      if (state.lease) return { for: "reply", until: isoText(state.lease.until) };
      return {
        for: "next-attempt",
        until: isoText(state.notBefore),
        ...(state.because !== undefined && { because: state.because }),
      };
    case "following":
      return tasksWait(views);
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

const viewNow = async (ledger: Ledger, command: Command, now: number): Promise<CommandView> => {
  const recorded = await readTasksOf(ledger, command);
  const views = taskViews(command, recorded);
  return viewOf(command, {
    attempts: await readAttempts(ledger, commandKey(command), command),
    tasks: views,
    events: eventsOf(command, recorded),
    waitsFor: await waitsFor(ledger, command, views),
    pausedUntil: await pausedUntil(ledger, command, now),
  });
};

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
