import { publish } from "../events/event.ts";
import type { Stored } from "../ledger/record.ts";
import type { BusEntry } from "../platform/ports/bus.ts";
import type { CountName } from "../platform/ports/metrics.ts";
import { type Command, commandKey, commands, type EndedState, isEnded } from "./command.ts";
import { durationMsOf, unpublishedEvents } from "./command-events.ts";
import { finalize, markPublished } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { type Lane, lanes, leaveLane } from "./lane.ts";
import { resumeMessage } from "./queue-message.ts";
import { abandonTask, taskKey, tasks } from "./task.ts";

/**
 * Hands the lane of an ended command over to the next one, and sends that one to the queue. Reads the lane after the end
 * was written: a command that enters later sees that end (`joinLane`).
 */
export const handOver = async (deps: CommandDeps, lane: string, key: string): Promise<void> => {
  const found = await lanes.read(deps.ledger, lane);
  if (!found) return;
  let before: string | undefined;
  const leave = (current: Lane): Lane => {
    before = current.holder;
    return leaveLane(current, key, deps.clock.now());
  };
  if (leave(found.value) === found.value) return;
  const { value: after } = await lanes.update(deps.ledger, lane, leave, found);
  const next = after.holder;
  if (next !== undefined && next !== before) {
    await deps.queue.send(resumeMessage(next, lane, deps.random));
  }
};

/** Stops the checks of tasks after an operator cancelled their follow-task. Repeatable. */
export const leaveTasks = async (
  { ledger, clock }: Pick<CommandDeps, "ledger" | "clock">,
  { account, sender, id, state }: Command,
): Promise<void> => {
  if (state.status !== "cancelled") return;
  const command = commandKey({ sender, id });
  for (const task of state.tasks) {
    const key = taskKey({ account, id: task.id, command, followedBy: sender });
    if (await tasks.read(ledger, key)) {
      await tasks.update(ledger, key, (current) => abandonTask(current, clock.now()));
    }
  }
};

/**
 * Finishes a command with a recorded end: hands its lane over, publishes its events, abandons tasks
 * that are still open, and removes the due time. Each step may be repeated; the poller repeats what
 * fails.
 * @returns whether the bus took every event
 */
export const finishCommand = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<boolean> => {
  const { value: command } = stored;
  const key = commandKey(command);
  await handOver(deps, command.lane, key);
  const events = unpublishedEvents(command);
  const published = await publish(deps, events);
  await leaveTasks(deps, command);
  const change = (current: Command): Command => finalize(markPublished(current, published));
  await commands.update(deps.ledger, key, change, stored);
  return published.size === events.length;
};

/**
 * Finishes a command that its tasks ended: hands its lane over, and publishes its events after those of the tasks.
 * Writes nothing, because the item of a task stays due until this has succeeded. Repeatable.
 * @param taskEvents events of its tasks that are not published yet
 * @throws Error when an event was not published
 */
export const finishByTask = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  taskEvents: readonly BusEntry[],
): Promise<void> => {
  const { value: command } = stored;
  const key = commandKey(command);
  await handOver(deps, command.lane, key);
  const events = [...taskEvents, ...unpublishedEvents(command)];
  const published = await publish(deps, events);
  if (published.size < events.length)
    throw new Error("the bus did not take every event of the task's end");
  // An earlier version wrote the end, and the store would keep it for ever.
  if (stored.expiresAt !== undefined) return;
  const change = (current: Command): Command => finalize(markPublished(current, published));
  await commands.update(deps.ledger, key, change, stored);
};

/** The ports that ending a command needs. */
export type EndDeps = Pick<CommandDeps, "ledger" | "log" | "metrics">;

/** The metrics of an end that an operator has to investigate. */
const alarmingCounts = ({ reason, tasks }: EndedState): readonly CountName[] => {
  if (reason === "unknown-outcome") return ["UnknownOutcome"];
  const isFollowed = reason === "deadline" && tasks.some(({ end }) => !end);
  return isFollowed ? ["TaskPastDeadline"] : [];
};

const countEnd = ({ log, metrics }: EndDeps, before: Command, after: Command): void => {
  if (isEnded(before) || !isEnded(after)) return;
  const { status: outcome, reason, endedAt } = after.state;
  const durationMs = durationMsOf(after, endedAt);
  metrics.count("CommandEnded", { outcome });
  metrics.measure(
    { name: "CommandDuration", value: durationMs, unit: "Milliseconds" },
    alarmingCounts(after.state),
  );
  log.info("command ended", { outcome, reason, attempts: after.attemptCount, durationMs });
};

/**
 * Writes a command that may have ended. Only this function and `changeCommand` count and log an end,
 * after its write succeeded, so no repetition counts it twice. A crash right after the write, or a lost
 * reply to it, leaves the end uncounted.
 * @returns undefined when another writer was faster
 */
export const writeCommand = async (
  deps: EndDeps,
  stored: Stored<Command>,
  next: Command,
): Promise<Stored<Command> | undefined> => {
  const written = await commands.write(deps.ledger, commandKey(next), stored, next);
  if (written) countEnd(deps, stored.value, next);
  return written;
};

/**
 * As `writeCommand`, by a pure change of the newest value. @throws Error when there is no such command
 * @param known the command as it was read a moment ago; default: it is read
 */
export const changeCommand = async (
  deps: EndDeps,
  key: string,
  change: (command: Command) => Command,
  known?: Stored<Command>,
): Promise<Stored<Command>> => {
  let before: Command | undefined;
  const noted = (current: Command): Command => {
    before = current;
    return change(current);
  };
  const stored = await commands.update(deps.ledger, key, noted, known);
  if (before) countEnd(deps, before, stored.value);
  return stored;
};
