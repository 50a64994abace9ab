import { publish } from "../events/event.ts";
import { isUnreadable, type Known, type Stored } from "../ledger/record.ts";
import { attemptCommand } from "./attempt.ts";
import {
  type Command,
  commandKey,
  commands,
  DUE_SLACK_MS,
  isBeforeItsLane,
  isEnded,
  isEndedByTasks,
} from "./command.ts";
import { unpublishedEvents } from "./command-events.ts";
import {
  checkAfterPause,
  checkAgain,
  checkLater,
  loseLease,
  markPublished,
  waitInLane,
} from "./command-transitions.ts";
import { checkEntry, expireCommand } from "./dependencies.ts";
import { type CommandDeps, depsFor, keyFields } from "./deps.ts";
import { finishCommand, handOver } from "./finish.ts";
import { recordTasks, wakeForTasks } from "./follow.ts";
import { confirmHolder, enterLane, type Lane, lanes, renewGrant } from "./lane.ts";
import { resumeMessage } from "./queue-message.ts";

/** `outside`: the lane was full; the command's own due time brings it back. */
type LanePosition = "holder" | "behind" | "outside";

/** Whether the holder of a lane has ended. One that is not in the ledger was deleted long after its end. */
const hasEnded = async ({ ledger }: CommandDeps, key: string): Promise<boolean> => {
  try {
    const stored = await commands.read(ledger, key);
    return !stored || isEnded(stored.value);
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
};

/**
 * Enters the lane once. A command behind others is recorded as waiting.
 * @param known the lane as it was read a moment ago; default: it is read
 */
const joinLane = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  known?: Known<Lane>,
): Promise<LanePosition> => {
  const { value: command } = stored;
  const key = commandKey(command);
  const found = known ?? (await lanes.read(deps.ledger, command.lane)) ?? "absent";
  const { holder } = found === "absent" ? {} : found.value;
  // It keeps the lane until it has ended, and a write of the command that was read before its end fails.
  if (holder === key) return "holder";
  const isLeft = holder !== undefined && (await hasEnded(deps, holder));
  const enter = (current: Lane | undefined): Lane =>
    enterLane(current, key, deps.clock.now(), isLeft ? holder : undefined);
  const { value: lane } = await lanes.change(deps.ledger, command.lane, enter, found);
  if (lane.holder === key) return "holder";
  if (!lane.waiting.includes(key)) return "outside";
  await commands.update(deps.ledger, key, waitInLane, stored);
  // The holder may have ended since it was read, and have read the lane before this command was in it.
  if (lane.holder !== undefined && (await hasEnded(deps, lane.holder)))
    await handOver(deps, command.lane, lane.holder);
  return "behind";
};

const NOT_TAKEN = "the bus did not take every event of the command";

/**
 * Publishes the command's outbox. The next write of the returned command records that; if none follows, the
 * events are published again.
 * @throws Error when the bus did not take every event; a redelivered message or the poller tries again
 */
const publishOutbox = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<Stored<Command>> => {
  if (stored.value.outbox.length === 0) return stored;
  const published = await publish(deps, unpublishedEvents(stored.value));
  const value = markPublished(stored.value, published);
  if (value.outbox.length > 0) throw new Error(NOT_TAKEN);
  return { ...stored, value };
};

/**
 * Does the work that sends nothing: records the tasks of a reply, or finishes an ended command.
 * @returns false when the bus did not take every event
 */
const finishWork = async (deps: CommandDeps, stored: Stored<Command>): Promise<boolean> => {
  const { value: command } = stored;
  if (command.state.status === "following") await recordTasks(deps, stored);
  if (!isEnded(command)) return true;
  // An earlier version leaves a due entry of a command that its tasks ended, which has to be removed.
  const isFinished = command.state.settled || isEndedByTasks(command.state);
  if (!isFinished || stored.dueAt !== undefined) return finishCommand(deps, stored);
  // A process that was suspended may have put the command into its lane again, where others wait now.
  await handOver(deps, command.lane, commandKey(command));
  return true;
};

/** Whether an attempt may start now: no attempt is running, and no pause is left. */
const isReady = ({ state }: Command, now: number): boolean =>
  state.status !== "running" || (state.lease ? state.lease.until <= now : state.notBefore <= now);

/** Requests a poller run that handles a command at `at` (epoch ms). */
const wakeForCommand = ({ waker, shards }: CommandDeps, key: string, at: number): Promise<void> =>
  waker.wakeAt(at, shards.of(commands.itemKey(key)));

/**
 * Reschedules a command for the end of its pause. A caller with a fast clock invoked it too early, and
 * its next check is far away.
 */
const awaitPause = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const next = checkAfterPause(stored.value);
  if (next === stored.value || next.state.status !== "running") return;
  if (await commands.write(deps.ledger, commandKey(next), stored, next)) {
    await wakeForCommand(deps, commandKey(next), next.state.lookAt);
  }
};

/**
 * Brings a command to its next attempt: publishes its outbox, checks the commands of `after`, enters
 * its lane.
 * @returns the command when it holds its lane and an attempt may start now
 */
const prepareAttempt = async (
  deps: CommandDeps,
  given: Stored<Command>,
  known: Known<Lane> | undefined,
): Promise<Stored<Command> | undefined> => {
  if (given.value.state.status === "following" || isEnded(given.value)) {
    await finishWork(deps, given);
    return undefined;
  }
  const found = await publishOutbox(deps, given);
  const { value: command } = found;
  const now = deps.clock.now();
  if (!isReady(command, now)) {
    await awaitPause(deps, found);
    return undefined;
  }
  if (now >= command.deadline) {
    await expireCommand(deps, found);
    return undefined;
  }
  const entry = await checkEntry(deps, found);
  if (entry.kind === "waits") await wakeForCommand(deps, commandKey(command), entry.nextCheckAt);
  if (entry.kind !== "free") return undefined;
  return (await joinLane(deps, found, known)) === "holder" ? found : undefined;
};

/**
 * Sends the command back to the queue. This must be the last step: a later write would conflict with
 * the attempt that follows, and its reply could not be recorded. If the message is lost, the poller
 * sends another, because the command or its lane's grant stays due.
 */
const sendBack = (deps: CommandDeps, command: Command): Promise<void> =>
  deps.queue.send(resumeMessage(commandKey(command), command.lane, deps.random));

/** Sends a command back that holds its lane, for an attempt in another invocation. */
const deferAttempt = async (deps: CommandDeps, ready: Stored<Command>): Promise<void> => {
  const key = commandKey(ready.value);
  const check = (current: Command): Command => checkLater(current, deps.clock.now());
  const { value } = await commands.update(deps.ledger, key, check, ready);
  if (!isEnded(value)) await sendBack(deps, value);
};

/** The time that an invocation has left for an attempt. */
export interface AttemptTime {
  /** Whether enough time is left for an attempt. */
  has(): boolean;
  /** Aborts an attempt that would outlive the invocation. */
  readonly signal: AbortSignal;
}

/**
 * Advances a command as far as possible now: into its lane, through an attempt, to its end.
 * Safe to call at any time and any number of times.
 * @param known its lane as it was read a moment ago; default: it is read
 */
export const advanceCommand = async (
  deps: CommandDeps,
  found: Stored<Command>,
  time: AttemptTime,
  known?: Known<Lane>,
): Promise<void> => {
  const ready = await prepareAttempt(deps, found, known);
  if (!ready) return;
  const key = commandKey(ready.value);
  if (!time.has()) return deferAttempt(deps, ready);
  const attempted = await attemptCommand(deps, ready, time.signal);
  // Another process has written the command meanwhile, and continues it.
  if (!attempted) return;
  const { state } = attempted.value;
  if (state.status === "running") await wakeForCommand(deps, key, state.lookAt);
  else if (state.status === "following" && state.tasksRecorded)
    await wakeForTasks(deps, attempted.value);
  else await finishWork(deps, attempted);
};

/**
 * Checks a command outside its lane: publishes its events, checks the commands of `after`, enters the
 * lane.
 */
const checkOutsideLane = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const published = await publishOutbox(deps, stored);
  const { value } = published;
  // A command that keeps waiting needs no wake signal: the poller keeps running, or wakes the next run.
  if ((await checkEntry(deps, published)).kind !== "free") return;
  const position = await joinLane(deps, published);
  if (position === "behind") return;
  const check = position === "holder" ? checkLater : checkAgain;
  const postponed = (current: Command): Command => check(current, deps.clock.now());
  await commands.update(deps.ledger, commandKey(value), postponed, published);
  if (position === "holder") await sendBack(deps, value);
};

/**
 * When an entry of the command has to be handled, epoch ms. While the items of its tasks watch over it, it has none of
 * its own; but an earlier version, which left one at the deadline, may have written it.
 */
const handledAt = (command: Command): number => {
  const dueAt = commands.dueAt(command);
  if (dueAt !== undefined) return dueAt;
  if (!isEnded(command)) return command.deadline;
  return command.state.settled ? Number.POSITIVE_INFINITY : command.state.endedAt;
};

/**
 * Checks a command that is due. Never calls the provider: a command that may send is sent back to the
 * queue.
 */
export const checkCommand = async (given: CommandDeps, key: string): Promise<void> => {
  const stored = await commands.read(given.ledger, key);
  if (!stored) return;
  const { value: command } = stored;
  const now = given.clock.now();
  // The due index may lag behind the item, and its entry may be early, so the item's own due time decides.
  const dueAt = handledAt(command);
  if (dueAt > now) {
    if (dueAt <= now + DUE_SLACK_MS) await wakeForCommand(given, key, dueAt);
    return;
  }
  const deps = depsFor(given, command);
  if (!isEnded(command) && now >= command.deadline) {
    await expireCommand(deps, stored);
    return;
  }
  if (isBeforeItsLane(command)) return checkOutsideLane(deps, stored);
  if (command.state.status !== "running") {
    if (!(await finishWork(deps, stored))) throw new Error(NOT_TAKEN);
    return;
  }
  const check = (current: Command): Command => checkLater(loseLease(current, now), now);
  await commands.update(deps.ledger, key, check, stored);
  return sendBack(deps, command);
};

/**
 * Checks the grant of a lane: confirms a holder that runs or follows tasks, sends any other holder back to
 * the queue, and hands the lane over if its holder has ended or is not in the ledger.
 */
export const checkLane = async (deps: CommandDeps, lane: string): Promise<void> => {
  const found = (await lanes.read(deps.ledger, lane))?.value;
  const holder = found?.holder;
  if (!found || holder === undefined) return;
  if ((lanes.dueAt(found) ?? Number.POSITIVE_INFINITY) > deps.clock.now()) return;
  const stored = await commands.read(deps.ledger, holder);
  if (!stored) {
    deps.log.error("the holder of the lane is not in the ledger; the lane is handed over", {
      ...keyFields(holder),
      lane,
    });
    return handOver(deps, lane, holder);
  }
  const { value: command } = stored;
  if (isEnded(command)) {
    await finishWork(depsFor(deps, command), stored);
    return;
  }
  const { status } = command.state;
  const isActive = status === "running" || status === "following";
  if (!isActive) await sendBack(deps, command);
  await lanes.change(deps.ledger, lane, (current) => {
    if (!current) throw new Error("the lane was deleted after it was read");
    // A process that was suspended meanwhile may find a later grant to the same command, which it has not checked.
    if (current.checkAt !== found.checkAt) return current;
    return isActive
      ? confirmHolder(current, holder)
      : renewGrant(current, holder, deps.clock.now());
  });
};
