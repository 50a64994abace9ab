import { publish } from "../events/publish.ts";
import type { Stored } from "../ledger/record.ts";
import { attemptCommand } from "./attempt.ts";
import { type Command, commandKey, commands, isEnded } from "./command.ts";
import { lookAfterPause, markPublished, waitInLane } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { finishCommand } from "./finish.ts";
import { recordTasks } from "./follow.ts";
import { enterLane, type Lane, lanes } from "./lane.ts";
import { resumeMessage } from "./resume-message.ts";
import { expireCommand, lookForEntry } from "./wait-for-others.ts";

/** `outside`: the lane was full; the command's own due time brings it back. */
type Place = "holder" | "behind" | "outside";

const placeIn = (lane: Lane, key: string): Place => {
  if (lane.holder === key) return "holder";
  return lane.waiting.includes(key) ? "behind" : "outside";
};

/** Enters the lane, once; a command that has to wait there is recorded as waiting. */
export const takePlace = async (deps: CommandDeps, command: Command): Promise<Place> => {
  const key = commandKey(command);
  const lane = await lanes.change(deps.ledger, command.lane, (current) =>
    enterLane(current, key, deps.clock.now()),
  );
  const place = placeIn(lane.value, key);
  if (place === "behind") await commands.update(deps.ledger, key, waitInLane);
  return place;
};

/** @throws Error when the bus did not take everything; the caller's message or due entry returns */
export const publishOutbox = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<Stored<Command>> => {
  if (stored.value.outbox.length === 0) return stored;
  const published = await publish(deps, stored.value.outbox);
  const next = markPublished(stored.value, published);
  if (next.outbox.length > 0) throw new Error("an event could not be published");
  return (
    (await commands.write(deps.ledger, commandKey(next), stored, next)) ??
    commands.update(deps.ledger, commandKey(next), (current) => markPublished(current, published))
  );
};

/** Carries on from whatever an attempt recorded. */
const carryOn = async (deps: CommandDeps, command: Command): Promise<void> => {
  if (isEnded(command)) return finishCommand(deps, command);
  switch (command.state.status) {
    case "following":
      return recordTasks(deps, command);
    case "running":
      return deps.waker.wakeAt(command.state.lookAt);
    default:
      return;
  }
};

/** Whether an attempt may start now: nobody is sending, and no pause is running. */
const isReady = ({ state }: Command, now: number): boolean =>
  state.status !== "running" || (state.lease ? state.lease.until <= now : state.notBefore <= now);

/** For one that was called too early: whoever called it looks at it only much later. */
const awaitPause = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const next = lookAfterPause(stored.value);
  if (next === stored.value || next.state.status !== "running") return;
  if (await commands.write(deps.ledger, commandKey(next), stored, next)) {
    await deps.waker.wakeAt(next.state.lookAt);
  }
};

/**
 * Takes a command up to its next attempt: through its outbox and what it waits for, into its lane.
 * @returns the command when it holds its lane and an attempt may start now
 */
const prepareAttempt = async (
  deps: CommandDeps,
  found: Stored<Command>,
): Promise<Stored<Command> | undefined> => {
  const { value: command } = found;
  if (isEnded(command)) {
    if (!command.state.settled) await finishCommand(deps, command);
    return undefined;
  }
  if (command.state.status === "following") {
    await recordTasks(deps, command);
    return undefined;
  }
  if (command.outbox.length > 0) {
    // Publishing takes time: somebody else may have taken the command further, even to its end.
    return prepareAttempt(deps, await publishOutbox(deps, found));
  }
  const now = deps.clock.now();
  if (!isReady(command, now)) {
    await awaitPause(deps, found);
    return undefined;
  }
  if (now >= command.deadline) {
    await expireCommand(deps, found);
    return undefined;
  }
  const entry = await lookForEntry(deps, found);
  if (entry.kind === "waits") await deps.waker.wakeAt(entry.lookAt);
  if (entry.kind !== "free") return undefined;
  return (await takePlace(deps, command)) === "holder" ? found : undefined;
};

/**
 * Hands the lane over if an operator ended the command before it took its place: that end did not
 * find it in the lane.
 * @returns whether it has ended
 */
const leaveIfEnded = async (deps: CommandDeps, key: string): Promise<boolean> => {
  const current = await commands.read(deps.ledger, key);
  if (!current || !isEnded(current.value)) return false;
  await finishCommand(deps, current.value);
  return true;
};

/** The time of an invocation, as far as an attempt at the provider needs it. */
export interface AttemptTime {
  /** Whether what is left suffices for an attempt. */
  has(): boolean;
  /** Aborts an attempt that would outlive the invocation. */
  readonly signal: AbortSignal;
}

/**
 * Sends a command that there is no time for back to the queue. If that message is lost, the poller
 * sends another: the command, or its lane's grant, stays due.
 */
const callAgain = async (deps: CommandDeps, command: Command): Promise<void> => {
  const key = commandKey(command);
  if (await leaveIfEnded(deps, key)) return;
  await deps.queue.send(resumeMessage(key, command.lane, deps.random));
};

/**
 * Takes a command as far as it can go now: into its lane, through an attempt, to its end.
 * Safe to call at any time and any number of times.
 */
export const advanceCommand = async (
  deps: CommandDeps,
  found: Stored<Command>,
  time: AttemptTime,
): Promise<void> => {
  const ready = await prepareAttempt(deps, found);
  if (!ready) return;
  if (!time.has()) return callAgain(deps, ready.value);
  const attempted = await attemptCommand(deps, ready, time.signal);
  if (attempted) await carryOn(deps, attempted);
  else await leaveIfEnded(deps, commandKey(ready.value));
};
