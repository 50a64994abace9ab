import { type Command, isEnded, isEndedByTasks, outboxIdOf } from "../engine/command.ts";
import { ownEventsOf } from "../engine/command-events.ts";
import { endInCommand, taskEvent } from "../engine/poller/task-end.ts";
import type { Rejected } from "../engine/rejection.ts";
import type { Task } from "../engine/task.ts";
import { isoText } from "../events/event.ts";

/** An event that a command has published, or will publish. */
export interface DerivedEvent {
  /** Its detail-type. */
  readonly type: string;
  /** Its `metadata.id`. */
  readonly id: string;
  /** Its `metadata.time`. */
  readonly time: string;
  /** `waiting`: not yet recorded as published; the bus may have it. */
  readonly state: "published" | "waiting";
  /** The task that an event reports. */
  readonly taskId?: string;
}

type Derived = Omit<DerivedEvent, "time"> & { readonly time: number };

const isReported = ({ state }: Task): boolean => "told" in state && state.told;

const ownEvents = (command: Command, tasks: readonly Task[]): readonly Derived[] => {
  const isPublished = isEnded(command) && isEndedByTasks(command.state) && tasks.every(isReported);
  const unpublished = isPublished ? [] : command.outbox;
  const waiting = new Set(unpublished.map((entry) => outboxIdOf(command, entry)));
  return ownEventsOf(command).map((event) => ({
    ...event,
    state: waiting.has(event.id) ? "waiting" : "published",
  }));
};

const taskEndEvents = (command: Command, task: Task): readonly Derived[] => {
  const state = task.state.status === "open" ? endInCommand(command, task.id) : task.state;
  // Once cancelled, a command publishes no end of a task. Nothing records whether one was published in the
  // moment before.
  if (!state || !("told" in state) || command.state.status === "cancelled") return [];
  const { detailType, deduplicationId, time } = taskEvent(task, state, command);
  // The events of an ended command are published after those of its tasks.
  const isPublished = state.told || (isEnded(command) && command.state.settled);
  const published = isPublished ? "published" : "waiting";
  return [{ type: detailType, id: deduplicationId, time, state: published, taskId: task.id }];
};

/**
 * Events of a command, the oldest first. Nothing stores them: their ids and times follow from the records of
 * the command and its tasks. A task without a record is left out.
 * @param tasks the command's own records of its tasks
 */
export const eventsOf = (command: Command, tasks: readonly Task[]): readonly DerivedEvent[] => {
  const ofTasks = tasks.flatMap((task) => taskEndEvents(command, task));
  // The sort keeps this order at the same instant: the end of a task comes before that of the command.
  return [...ofTasks, ...ownEvents(command, tasks)]
    .toSorted((a, b) => a.time - b.time)
    .map((event) => ({ ...event, time: isoText(event.time) }));
};

/**
 * The event of a rejection; none for a request without a command id, and for a record of a version that
 * stored no event id.
 */
export const rejectionEvents = ({ publishedAs, rejectedAt }: Rejected): readonly DerivedEvent[] =>
  publishedAs === undefined
    ? []
    : [
        {
          ...{ type: "CommandRejected", id: publishedAs, time: isoText(rejectedAt) },
          // The message is delivered again until the bus has the event.
          state: "published",
        },
      ];
