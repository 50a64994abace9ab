import type { Stored } from "../ledger/record.ts";
import { publishOutbox, takePlace } from "./advance.ts";
import { type Command, commandKey, commands, isBeforeItsLane, isEnded } from "./command.ts";
import { lookAgain, loseLease } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { finishCommand, handOver } from "./finish.ts";
import { recordTasks } from "./follow.ts";
import { confirmHolder, lanes, renewGrant } from "./lane.ts";
import { depsFor, keyFields } from "./log-fields.ts";
import { resumeMessage } from "./resume-message.ts";
import { expireCommand, lookForEntry } from "./wait-for-others.ts";

/**
 * Has the command taken up by the other function. The last thing done about it: a write after this
 * would come between the attempt that follows and its reply.
 */
const callAgain = (deps: CommandDeps, command: Command): Promise<void> =>
  deps.queue.send(resumeMessage(commandKey(command), command.lane, deps.random));

/** A command that is in no lane yet: its events first, then whom it waits for, then its lane. */
const bringIn = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const published = await publishOutbox(deps, stored);
  const { value } = published;
  // No wake for one that waits on: whoever looks stays at work, or has the next run woken.
  if ((await lookForEntry(deps, published)).kind !== "free") return;
  const place = await takePlace(deps, value);
  if (place === "behind") return;
  await commands.update(deps.ledger, commandKey(value), (current) =>
    lookAgain(current, deps.clock.now()),
  );
  if (place === "holder") await callAgain(deps, value);
};

const lookByStatus = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const { value: command } = stored;
  const { state } = command;
  switch (state.status) {
    case "accepted":
      return bringIn(deps, stored);
    case "waiting":
      return isBeforeItsLane(command) ? bringIn(deps, stored) : undefined;
    case "running": {
      const now = deps.clock.now();
      await commands.update(deps.ledger, commandKey(command), (current) =>
        lookAgain(loseLease(current, now), now),
      );
      return callAgain(deps, command);
    }
    case "following":
      return recordTasks(deps, command);
    case "succeeded":
    case "failed":
    case "cancelled":
      return state.settled ? undefined : finishCommand(deps, command);
    default:
      return state satisfies never;
  }
};

/**
 * Looks at a command that is due. Never calls the provider: a command that may send is sent back
 * to the queue.
 */
export const lookAtCommand = async (deps: CommandDeps, key: string): Promise<void> => {
  const stored = await commands.read(deps.ledger, key);
  if (!stored) return;
  const { value: command } = stored;
  const now = deps.clock.now();
  // The index may lag behind: only what the item itself says counts.
  if ((commands.dueAt(command) ?? Number.POSITIVE_INFINITY) > now) return;
  const own = depsFor(deps, command);
  const isOver = !isEnded(command) && now >= command.deadline;
  return isOver ? expireCommand(own, stored) : lookByStatus(own, stored);
};

/** Looks at a lane whose grant was not yet seen to be taken up. */
export const lookAtLane = async (deps: CommandDeps, lane: string): Promise<void> => {
  const found = (await lanes.read(deps.ledger, lane))?.value;
  const holder = found?.holder;
  if (!found || holder === undefined) return;
  if ((lanes.dueAt(found) ?? Number.POSITIVE_INFINITY) > deps.clock.now()) return;
  const command = (await commands.read(deps.ledger, holder))?.value;
  if (!command) {
    deps.log.error("lane held by a command that is not in the ledger, it is passed on", {
      ...keyFields(holder),
      lane,
    });
    return handOver(deps, lane, holder);
  }
  if (isEnded(command)) return finishCommand(depsFor(deps, command), command);
  const { status } = command.state;
  const isAtWork = status === "running" || status === "following";
  if (!isAtWork) await callAgain(deps, command);
  await lanes.change(deps.ledger, lane, (current) => {
    if (!current) throw new Error("a lane that was read is gone");
    return isAtWork
      ? confirmHolder(current, holder)
      : renewGrant(current, holder, deps.clock.now());
  });
};
