import * as z from "zod";
import { recordKind } from "./record.ts";
import { LEDGER_RETENTION_MS } from "./retention.ts";

/** An accepted command that nobody took further is looked at again after this time. */
export const LOOK_AGAIN_MS = 30_000;

/**
 * Whoever ends a command hands its lane over and publishes in the same breath; the poller joins in
 * only when that did not happen, or everything would be published twice.
 */
const FINISH_GRACE_MS = 5_000;

/** The newest attempts are kept whole; older ones only counted. */
const MAX_ATTEMPTS_KEPT = 20;

const jsonRecord = z.record(z.string(), z.json());

/** The request in its decoded form; erased when the command ends, because it may hold secrets. */
export const requestSchema = z.object({
  params: jsonRecord,
  query: jsonRecord,
  body: jsonRecord.optional(),
});

const problemSchema = z.object({ path: z.string(), rule: z.string() });

const attemptSchema = z.object({
  startedAt: z.int(),
  endedAt: z.int().optional(),
  disposition: z.string().optional(),
  code: z.string().optional(),
});

/** How one task of the command ended, as far as the command needs to know. */
const followedTaskSchema = z.object({
  id: z.string(),
  end: z
    .object({
      kind: z.enum(["finished", "failed", "unknown"]),
      message: z.string().optional(),
      createdResources: jsonRecord.optional(),
    })
    .optional(),
});

const eventSchema = z.object({
  detailType: z.string(),
  detail: jsonRecord,
  time: z.int(),
  groupId: z.string(),
  deduplicationId: z.string(),
});

const stateSchema = z.discriminatedUnion("status", [
  /** Durable, not yet in its lane. */
  z.object({ status: z.literal("accepted"), lookAt: z.int() }),
  /** In its lane behind others. */
  z.object({ status: z.literal("waiting") }),
  /** Sending (leased), or between two attempts (not leased). */
  z.object({
    status: z.literal("running"),
    lease: z.object({ by: z.string(), until: z.int() }).optional(),
    /** The next attempt may start at this time. */
    notBefore: z.int(),
    /** When the poller calls it again. */
    lookAt: z.int(),
  }),
  /** The provider works in the background. */
  z.object({
    status: z.literal("following"),
    tasks: z.array(followedTaskSchema).min(1),
    /** Whether every task has its own item in the ledger. */
    tasksRecorded: z.boolean(),
  }),
  z.object({
    status: z.enum(["succeeded", "failed", "cancelled"]),
    endedAt: z.int(),
    /** Whether the lane was passed on and every event published. */
    settled: z.boolean(),
    reason: z.string().optional(),
    outcome: z.enum(["done", "no-op"]).optional(),
    problems: z.array(problemSchema).optional(),
    tasks: z.array(followedTaskSchema),
  }),
]);

const commandSchema = z.object({
  sender: z.string(),
  id: z.string(),
  account: z.string(),
  operation: z.string(),
  lane: z.string(),
  /** Keyed hash of the whole request: tells a repeat from another command under the same id. */
  fingerprint: z.string(),
  correlationId: z.string(),
  causationId: z.string(),
  acceptedAt: z.int(),
  deadline: z.int(),
  /** Path parameters: they name the resource and hold no secret, so they stay after the end. */
  params: jsonRecord,
  request: requestSchema.optional(),
  attempts: z.array(attemptSchema),
  attemptCount: z.int(),
  /** Sends whose reply never came. */
  lostReplies: z.int(),
  /** First and last send whose outcome is unknown, while it is. */
  uncertain: z.object({ firstSentAt: z.int(), lastSentAt: z.int() }).optional(),
  /** Events still to be published, in order. */
  outbox: z.array(eventSchema),
  state: stateSchema,
});

export type Command = z.output<typeof commandSchema>;
export type CommandRequestBody = z.output<typeof requestSchema>;
export type CommandState = Command["state"];
export type StateOf<S extends CommandState["status"]> = Extract<CommandState, { status: S }>;
export type FollowedTask = z.output<typeof followedTaskSchema>;
export type EndedState = Extract<CommandState, { endedAt: number }>;
export type OutboxEvent = z.output<typeof eventSchema>;

const dueAt = ({ state, deadline }: Command): number | undefined => {
  switch (state.status) {
    case "accepted":
      return Math.min(state.lookAt, deadline);
    case "waiting":
      return deadline;
    case "running":
      return state.lease ? state.lease.until : Math.min(state.lookAt, deadline);
    case "following":
      return state.tasksRecorded ? deadline : 0;
    default:
      return state.settled ? undefined : state.endedAt + FINISH_GRACE_MS;
  }
};

export const commands = recordKind({
  kind: "command",
  schema: commandSchema,
  dueAt,
  expiresAt: ({ state }) =>
    "endedAt" in state && state.settled ? state.endedAt + LEDGER_RETENTION_MS : undefined,
});

/** Sender and id together; nobody can name another sender's command. */
export const commandKey = (command: { readonly sender: string; readonly id: string }): string =>
  `${command.sender}/${command.id}`;

export const isEnded = (command: Command): command is Command & { state: EndedState } =>
  "endedAt" in command.state;

/** Every transition of an ended command answers the command unchanged: an end is final. */
const unlessEnded = (command: Command, change: () => Command): Command =>
  isEnded(command) ? command : change();

/** Once the tasks are known there is nothing to send: a command that follows them only ends. */
const unlessFollowing = (command: Command, change: () => Command): Command =>
  command.state.status === "following" ? command : unlessEnded(command, change);

export const waitInLane = (command: Command): Command =>
  unlessEnded(command, () =>
    command.state.status === "accepted" ? { ...command, state: { status: "waiting" } } : command,
  );

/**
 * Nobody has taken it further: called again, and looked at again later. While an attempt runs only
 * its owner writes, or its reply could not be recorded.
 */
export const lookAgain = (command: Command, now: number): Command => {
  const { state } = command;
  const isAtRest = state.status === "accepted" || (state.status === "running" && !state.lease);
  return isAtRest ? { ...command, state: { ...state, lookAt: now + LOOK_AGAIN_MS } } : command;
};

/** The intent, recorded before the request leaves. */
export const startAttempt = (
  command: Command,
  attempt: { readonly by: string; readonly now: number; readonly leaseUntil: number },
): Command =>
  unlessFollowing(command, () => ({
    ...command,
    attempts: [...command.attempts, { startedAt: attempt.now }].slice(-MAX_ATTEMPTS_KEPT),
    attemptCount: command.attemptCount + 1,
    state: {
      status: "running",
      lease: { by: attempt.by, until: attempt.leaseUntil },
      notBefore: attempt.now,
      lookAt: attempt.leaseUntil,
    },
  }));

/** Notes how the running attempt ended, and when the next one may start. */
export const postponeAttempt = (
  command: Command,
  attempt: {
    readonly now: number;
    readonly until: number;
    readonly disposition: string;
    readonly code: string;
  },
): Command =>
  unlessFollowing(command, () => {
    const { now, until, disposition, code } = attempt;
    const last = command.attempts.at(-1);
    return {
      ...command,
      attempts: last
        ? [...command.attempts.slice(0, -1), { ...last, endedAt: now, disposition, code }]
        : command.attempts,
      state: { status: "running", notBefore: until, lookAt: until },
    };
  });

/** Waits without having sent anything: an uncertain send is still being looked into. */
export const waitBeforeSending = (command: Command, until: number): Command =>
  unlessFollowing(command, () => ({
    ...command,
    state: { status: "running", notBefore: until, lookAt: until },
  }));

/** The lease ran out, so its holder died while sending: what became of the send is unknown. */
export const loseLease = (command: Command, now: number): Command =>
  command.state.status === "running" && command.state.lease && command.state.lease.until <= now
    ? {
        ...markUncertain(command),
        state: { status: "running", notBefore: now, lookAt: now + LOOK_AGAIN_MS },
      }
    : command;

/** The last send may have taken effect: its reply was lost, or its sender died. */
export const markUncertain = (command: Command): Command =>
  unlessFollowing(command, () => {
    const sentAt = command.attempts.at(-1)?.startedAt ?? command.acceptedAt;
    return {
      ...command,
      lostReplies: command.lostReplies + 1,
      uncertain: { firstSentAt: command.uncertain?.firstSentAt ?? sentAt, lastSentAt: sentAt },
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

/** Ends the command for good, erases the request, and queues the event that tells of it. */
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

export const markPublished = (command: Command, ids: ReadonlySet<string>): Command =>
  command.outbox.some((event) => ids.has(event.deduplicationId))
    ? { ...command, outbox: command.outbox.filter((event) => !ids.has(event.deduplicationId)) }
    : command;

/** The lane was passed on; with an empty outbox nothing is left to do. */
export const settle = (command: Command): Command =>
  isEnded(command) && command.outbox.length === 0
    ? { ...command, state: { ...command.state, settled: true } }
    : command;
