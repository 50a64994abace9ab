import { type Attempt, attemptsWithRoom } from "./attempt-history.ts";
import {
  CHECK_AGAIN_MS,
  type Command,
  type EndedState,
  type FollowedTask,
  isBeforeItsLane,
  isEnded,
  outboxIdOf,
  type Resolution,
} from "./command.ts";
import { pauseBeforeResend } from "./lane.ts";

/*
 * The transitions of a command. Every function is pure and returns the command's next state, or the
 * same object where the transition does not apply.
 */

/** Every transition returns an ended command unchanged: an end is final. */
const unlessEnded = (command: Command, change: () => Command): Command =>
  isEnded(command) ? command : change();

/** Once the tasks are known nothing is left to send: a command that follows tasks can only end. */
const unlessFollowing = (command: Command, change: () => Command): Command =>
  command.state.status === "following" ? command : unlessEnded(command, change);

export const waitInLane = (command: Command): Command =>
  unlessEnded(command, () =>
    isBeforeItsLane(command) ? { ...command, state: { status: "waiting" } } : command,
  );

/** Lets the command wait for the commands of `after`. The next check is at `lookAt`, epoch ms. */
export const waitForOthers = (command: Command, lookAt: number): Command =>
  unlessEnded(command, () =>
    isBeforeItsLane(command) ? { ...command, state: { status: "waiting", lookAt } } : command,
  );

/** Leaves a running attempt alone: a write by another function would keep its owner from recording the reply. */
const checkIn = (command: Command, now: number, pauseMs: number): Command => {
  const { state } = command;
  const isAtRest = isBeforeItsLane(command) || (state.status === "running" && !state.lease);
  return isAtRest && "lookAt" in state
    ? { ...command, state: { ...state, lookAt: now + pauseMs } }
    : command;
};

/** Postpones the next check of a command that found no room in its lane. */
export const checkAgain = (command: Command, now: number): Command =>
  checkIn(command, now, CHECK_AGAIN_MS);

/** Postpones the next check of a command that is sent back to the queue. */
export const checkLater = (command: Command, now: number): Command => {
  const { state, acceptedAt } = command;
  switch (state.status) {
    case "accepted":
      return checkIn(command, now, pauseBeforeResend(acceptedAt, state.lookAt));
    case "running":
      return checkIn(command, now, pauseBeforeResend(state.notBefore, state.lookAt));
    default:
      return checkAgain(command, now);
  }
};

/**
 * Reschedules the next check for the end of the pause, after a caller with a fast clock invoked the
 * command too early.
 */
export const checkAfterPause = (command: Command): Command => {
  const { state } = command;
  return state.status === "running" && !state.lease && state.lookAt > state.notBefore
    ? { ...command, state: { ...state, lookAt: state.notBefore } }
    : command;
};

/**
 * Records the intent, before the request leaves. Attempts that have no room are archived before that.
 */
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

/** Records how the newest attempt ended, unless that is recorded already. */
export const endAttempt = (command: Command, end: Omit<Attempt, "startedAt">): Command =>
  unlessFollowing(command, () => {
    const last = command.attempts.at(-1);
    if (!last || last.endedAt !== undefined) return command;
    return { ...command, attempts: [...command.attempts.slice(0, -1), { ...last, ...end }] };
  });

/** Lets the command wait without sending anything. */
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

/** Removes the running attempt, because it sent nothing, and lets the command wait. */
export const takeBackAttempt = (command: Command, until: number, because: string): Command =>
  unlessFollowing(command, () => ({
    ...waitBeforeSending(command, until, because),
    attempts: command.attempts.slice(0, -1),
    attemptCount: command.attemptCount - 1,
  }));

/**
 * Ends an attempt with an expired lease. Its holder died while sending, so the effect is unknown.
 */
export const loseLease = (command: Command, now: number): Command =>
  command.state.status === "running" && command.state.lease && command.state.lease.until <= now
    ? breakAttempt(command, now, now + CHECK_AGAIN_MS)
    : command;

/**
 * Ends the attempt of a function that is known to be dead. The next check is at `lookAt`, epoch ms.
 */
export const breakAttempt = (command: Command, now: number, lookAt: number): Command =>
  command.state.status === "running" && command.state.lease
    ? { ...loseAttempt(command, now), state: { status: "running", notBefore: now, lookAt } }
    : command;

/** Records that the reply to the newest attempt is lost. */
export const loseAttempt = (command: Command, now: number): Command => {
  // The holder is dead when its lease ends, and may have sent just before that.
  const { lease } = "lease" in command.state ? command.state : {};
  const ended = markUncertain(command, lease?.until ?? now);
  return endAttempt(ended, { endedAt: now, disposition: "lost" });
};

/**
 * Records that the last send may have taken effect: its reply was lost, or its function died.
 * @param sentBy epoch ms after which its request cannot have left; that may be long after the intent
 * was written
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

export const END_EVENTS = {
  succeeded: "CommandSucceeded",
  failed: "CommandFailed",
  cancelled: "CommandCancelled",
} as const;

/** Ends the command, erases its request, and queues the event of its end. An end is final. */
export const endCommand = (command: Command, end: Omit<EndedState, "settled" | "tasks">): Command =>
  unlessEnded(command, () => {
    const { request: _, uncertain: __, ...kept } = command;
    const tasks = command.state.status === "following" ? command.state.tasks : [];
    return {
      ...kept,
      outbox: [...command.outbox, END_EVENTS[end.status]],
      state: { ...end, settled: false, tasks },
    };
  });

/** Records an operator's cancellation; the same write ends the command. */
export const noteCancelRequest = (command: Command, now: number): Command =>
  unlessFollowing(command, () => ({ ...command, cancelRequestedAt: now }));

/**
 * Records an operator's finding about an unknown outcome once, and queues its event. The end stays.
 */
export const resolveOutcome = (command: Command, resolution: Resolution): Command =>
  isEnded(command) && command.state.reason === "unknown-outcome" && !command.resolution
    ? {
        ...command,
        resolution,
        outbox: [...command.outbox, "CommandResolved"],
        state: { ...command.state, settled: false },
      }
    : command;

/** Removes published events from the outbox, and the provider's reply with the event that shows it. */
export const markPublished = (command: Command, ids: ReadonlySet<string>): Command => {
  const outbox = command.outbox.filter((entry) => !ids.has(outboxIdOf(command, entry)));
  if (outbox.length === command.outbox.length) return command;
  if (!isEnded(command) || outbox.includes(END_EVENTS.succeeded)) return { ...command, outbox };
  const { result: _, ...state } = command.state;
  return { ...command, outbox, state };
};

/** Finalizes an ended command after its lane was handed over, if its outbox is empty. */
export const finalize = (command: Command): Command =>
  isEnded(command) && command.outbox.length === 0
    ? { ...command, state: { ...command.state, settled: true } }
    : command;
