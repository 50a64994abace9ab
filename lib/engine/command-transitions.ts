import type { OutboxEvent } from "../ledger/outbox.ts";
import { type Attempt, attemptsWithRoom } from "./attempt-history.ts";
import {
  CHECK_AGAIN_MS,
  type Command,
  type EndedState,
  type FollowedTask,
  isBeforeItsLane,
  isEnded,
  type Resolution,
} from "./command.ts";

/*
 * What can happen to a command. Every function is pure: from the command as it is to the command as
 * it will be, or the very same when that cannot happen to it.
 */

/** Every transition of an ended command answers the command unchanged: an end is final. */
const unlessEnded = (command: Command, change: () => Command): Command =>
  isEnded(command) ? command : change();

/** Once the tasks are known there is nothing to send: a command that follows them only ends. */
const unlessFollowing = (command: Command, change: () => Command): Command =>
  command.state.status === "following" ? command : unlessEnded(command, change);

export const waitInLane = (command: Command): Command =>
  unlessEnded(command, () =>
    isBeforeItsLane(command) ? { ...command, state: { status: "waiting" } } : command,
  );

/** Waits for the commands of `after`; checked again at `lookAt`. */
export const waitForOthers = (command: Command, lookAt: number): Command =>
  unlessEnded(command, () =>
    isBeforeItsLane(command) ? { ...command, state: { status: "waiting", lookAt } } : command,
  );

/**
 * No function has taken it further: sent back to the queue, and checked again later. While an attempt
 * runs only its owner writes, or its reply could not be recorded.
 */
export const checkLater = (command: Command, now: number): Command => {
  const { state } = command;
  const isAtRest = isBeforeItsLane(command) || (state.status === "running" && !state.lease);
  return isAtRest && "lookAt" in state
    ? { ...command, state: { ...state, lookAt: now + CHECK_AGAIN_MS } }
    : command;
};

/**
 * A caller with a fast clock invoked the command during its pause. Reschedules the check for the end of
 * the pause.
 */
export const checkAfterPause = (command: Command): Command => {
  const { state } = command;
  return state.status === "running" && !state.lease && state.lookAt > state.notBefore
    ? { ...command, state: { ...state, lookAt: state.notBefore } }
    : command;
};

/** The intent, recorded before the request leaves. Attempts without room are put away before. */
export const startAttempt = (
  command: Command,
  attempt: { readonly by: string; readonly now: number; readonly leaseUntil: number },
): Command =>
  unlessFollowing(command, () => ({
    ...command,
    attempts: [...attemptsWithRoom(command), { startedAt: attempt.now }],
    attemptCount: command.attemptCount + 1,
    state: {
      status: "running",
      lease: { by: attempt.by, until: attempt.leaseUntil },
      notBefore: attempt.now,
      lookAt: attempt.leaseUntil,
    },
  }));

/** Notes how the newest attempt ended, unless that is known. */
export const endAttempt = (command: Command, end: Omit<Attempt, "startedAt">): Command =>
  unlessFollowing(command, () => {
    const last = command.attempts.at(-1);
    if (!last || last.endedAt !== undefined) return command;
    return { ...command, attempts: [...command.attempts.slice(0, -1), { ...last, ...end }] };
  });

/** Waits without sending anything. */
export const waitBeforeSending = (command: Command, until: number, because?: string): Command =>
  unlessFollowing(command, () => ({
    ...command,
    state: {
      status: "running",
      notBefore: until,
      lookAt: until,
      ...(because !== undefined && { because }),
    },
  }));

/** Ends a pause between two attempts: the next one may start now. */
export const endWait = (command: Command, now: number): Command => {
  const { state } = command;
  if (state.status !== "running" || state.lease || state.notBefore <= now) return command;
  return { ...command, state: { status: "running", notBefore: now, lookAt: now } };
};

/** The running attempt sent nothing, so it was none; waits as if it had not begun. */
export const takeBackAttempt = (command: Command, until: number, because: string): Command =>
  unlessFollowing(command, () => ({
    ...waitBeforeSending(command, until, because),
    attempts: command.attempts.slice(0, -1),
    attemptCount: command.attemptCount - 1,
  }));

/** The lease ran out, so its holder died while sending: what became of the send is unknown. */
export const loseLease = (command: Command, now: number): Command =>
  command.state.status === "running" && command.state.lease && command.state.lease.until <= now
    ? breakAttempt(command, now, now + CHECK_AGAIN_MS)
    : command;

/** The sender of the attempt is known to be gone; checked again at `lookAt`. */
export const breakAttempt = (command: Command, now: number, lookAt: number): Command =>
  command.state.status === "running" && command.state.lease
    ? { ...loseAttempt(command, now), state: { status: "running", notBefore: now, lookAt } }
    : command;

/** The reply to the newest attempt will never be recorded. */
export const loseAttempt = (command: Command, now: number): Command => {
  // The holder of a lease is dead when it ends, and may have sent just before.
  const { lease } = "lease" in command.state ? command.state : {};
  const ended = markUncertain(command, lease?.until ?? now);
  return endAttempt(ended, { endedAt: now, disposition: "lost" });
};

/**
 * The last send may have taken effect: its reply was lost, or its sender died.
 * @param sentBy no request of it has left later, epoch ms; the intent was written before it left, and
 * that may have taken its time
 */
export const markUncertain = (command: Command, sentBy: number): Command =>
  unlessFollowing(command, () => {
    const startedAt = command.attempts.at(-1)?.startedAt ?? command.acceptedAt;
    const firstSentAt = command.uncertain?.firstSentAt ?? startedAt;
    return {
      ...command,
      lostReplies: command.lostReplies + 1,
      uncertain: { firstSentAt, lastSentAt: sentBy },
    };
  });

export const followTasks = (command: Command, taskIds: readonly string[]): Command =>
  unlessFollowing(command, () => ({
    ...command,
    state: {
      status: "following",
      tasks: [...new Set(taskIds)].map((id) => ({ id })),
      tasksRecorded: false,
    },
  }));

export const tasksRecorded = (command: Command): Command =>
  command.state.status === "following" && !command.state.tasksRecorded
    ? { ...command, state: { ...command.state, tasksRecorded: true } }
    : command;

export const recordTaskEnd = (
  command: Command,
  taskId: string,
  end: NonNullable<FollowedTask["end"]>,
): Command =>
  command.state.status === "following"
    ? {
        ...command,
        state: {
          ...command.state,
          tasks: command.state.tasks.map((task) =>
            task.id === taskId && !task.end ? { ...task, end } : task,
          ),
        },
      }
    : command;

/** Ends the command for good, erases the request, and queues the event of its end. */
export const endCommand = (
  command: Command,
  end: Omit<EndedState, "settled" | "tasks">,
  event: OutboxEvent,
): Command =>
  unlessEnded(command, () => {
    const { request: _, uncertain: __, ...kept } = command;
    const tasks = command.state.status === "following" ? command.state.tasks : [];
    return {
      ...kept,
      outbox: [...command.outbox, event],
      state: { ...end, settled: false, tasks },
    };
  });

/** Notes an operator's cancellation; the same write ends the command. */
export const noteCancelRequest = (command: Command, now: number): Command =>
  unlessFollowing(command, () => ({ ...command, cancelRequestedAt: now }));

/** Notes an operator's finding about an unknown outcome, once, and queues its event. The end stays. */
export const resolveOutcome = (
  command: Command,
  resolution: Resolution,
  event: OutboxEvent,
): Command =>
  isEnded(command) && command.state.reason === "unknown-outcome" && !command.resolution
    ? {
        ...command,
        resolution,
        outbox: [...command.outbox, event],
        state: { ...command.state, settled: false },
      }
    : command;

export const markPublished = (command: Command, ids: ReadonlySet<string>): Command =>
  command.outbox.some((event) => ids.has(event.deduplicationId))
    ? { ...command, outbox: command.outbox.filter((event) => !ids.has(event.deduplicationId)) }
    : command;

/** The lane was handed over; with an empty outbox nothing is left to do. */
export const finalize = (command: Command): Command =>
  isEnded(command) && command.outbox.length === 0
    ? { ...command, state: { ...command.state, settled: true } }
    : command;
