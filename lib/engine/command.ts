import * as z from "zod";
import { createdResourcesSchema } from "../contract/created-resources.ts";
import { eventIdOf } from "../events/event.ts";
import { outboxEventSchema } from "../ledger/outbox.ts";
import { recordKind, storedJsonObject } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";
import { attemptSchema } from "./attempt-history.ts";
import { storedCommand } from "./stored-command.ts";

/**
 * The poller checks an accepted command again after this time, unless a function has advanced it.
 */
export const CHECK_AGAIN_MS = 30_000;

/**
 * The function that ends a command hands its lane over and publishes at once. The poller waits for that,
 * or every event would be published twice.
 */
const FINISH_GRACE_MS = 5_000;

const storedRequestSchema = z.object({
  params: storedJsonObject,
  query: storedJsonObject,
  body: storedJsonObject.optional(),
});

const problemSchema = z.object({ path: z.string(), rule: z.string() });

/** A task of the command, with its end once that is known. */
const followedTaskSchema = z.object({
  id: z.string(),
  end: z
    .object({
      kind: z.enum(["finished", "failed", "unknown"]),
      message: z.string().optional(),
      createdResources: createdResourcesSchema().optional(),
    })
    .optional(),
});

/** An operator's finding about a command that ended with an unknown outcome. */
const resolutionSchema = z.object({
  /** Whether the command's request took effect. */
  applied: z.boolean(),
  resolvedAt: z.int(),
  note: z.string().optional(),
});

const seenTagSchema = z.object({ key: z.string(), value: z.string(), read_only: z.boolean() });

const stateSchema = z.discriminatedUnion("status", [
  /** In the ledger, not yet in its lane. */
  z.object({ status: z.literal("accepted"), lookAt: z.int() }),
  /**
   * Waits in its lane behind others. With `lookAt`: waits for the commands of `after`, outside its
   * lane.
   */
  z.object({ status: z.literal("waiting"), lookAt: z.int().optional() }),
  /** Sending (leased), or between two attempts (not leased). */
  z.object({
    status: z.literal("running"),
    lease: z.object({ by: z.string(), until: z.int() }).optional(),
    /** The next attempt may start at this time, epoch ms. */
    notBefore: z.int(),
    /** When the poller checks the command next, epoch ms. */
    lookAt: z.int(),
    /** Code of the error that keeps it from sending; absent where the last attempt has it. */
    because: z.string().optional(),
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
    /** Whether the lane was passed on and every event published; see `isEndedByTasks`. */
    settled: z.boolean(),
    reason: z.string().optional(),
    outcome: z.enum(["done", "no-op", "dry-run"]).optional(),
    problems: z.array(problemSchema).optional(),
    /** The request that a dry run would have sent, without secrets. */
    wouldSend: z.object({ method: z.string(), path: z.string() }).catchall(z.json()).optional(),
    /** The provider's reply to an operation that answers at once; erased once its event is published. */
    result: z.json().optional(),
    /** The tag that a guard read; null when there is none. */
    tag: seenTagSchema.nullable().optional(),
    tasks: z.array(followedTaskSchema).default([]),
  }),
]);

/** Events of the command itself, each published once. Their content follows from the command. */
const COMMAND_EVENTS = [
  "CommandAccepted",
  "CommandSucceeded",
  "CommandFailed",
  "CommandCancelled",
  "CommandResolved",
] as const;

export type CommandEventName = (typeof COMMAND_EVENTS)[number];

const commandSchema = z.object({
  sender: z.string(),
  id: z.string(),
  account: z.string(),
  operation: z.string(),
  lane: z.string(),
  /** Keyed hash of the whole request: equal for a repeat, different for another request. */
  fingerprint: z.string(),
  correlationId: z.string(),
  causationId: z.string(),
  acceptedAt: z.int(),
  deadline: z.int(),
  /** Path parameters: they name the resource and hold no secret, so they stay after the end. */
  params: storedJsonObject,
  request: storedRequestSchema.optional(),
  /** Ids of commands of the same sender that have to succeed first. */
  after: z.array(z.string()).optional(),
  /** Conditions on tags, as requested. */
  guards: z.array(storedJsonObject).optional(),
  /** Goes through every step without sending the request. */
  dryRun: z.boolean().optional(),
  /** The newest attempts; older ones are archived in items of their own. */
  attempts: z.array(attemptSchema).default([]),
  attemptCount: z.int(),
  /** Number of sends without a reply. */
  lostReplies: z.int().default(0),
  /** Bounds of the sends with unknown outcomes: none of them left earlier or later, epoch ms. */
  uncertain: z.object({ firstSentAt: z.int(), lastSentAt: z.int() }).optional(),
  /** When an operator cancelled it, epoch ms. */
  cancelRequestedAt: z.int().optional(),
  resolution: resolutionSchema.optional(),
  /** Events still to be published, in order. Earlier versions stored each as a whole. */
  outbox: z.array(z.union([z.enum(COMMAND_EVENTS), outboxEventSchema])).default([]),
  state: stateSchema,
});

export type Command = z.output<typeof commandSchema>;
type CommandState = Command["state"];
export type SeenTag = z.output<typeof seenTagSchema>;
export type Resolution = z.output<typeof resolutionSchema>;
export type FollowedTask = z.output<typeof followedTaskSchema>;
export type EndedState = Extract<CommandState, { endedAt: number }>;

/**
 * Whether its tasks ended the command. The item of the last one is due until the lane is passed on and every event is
 * published, and records that alone: the command is not written again.
 */
export const isEndedByTasks = ({ tasks }: EndedState): boolean =>
  tasks.length > 0 && tasks.every(({ end }) => end !== undefined);

/** Whether the command itself is due until the lane is passed on and every event is published. */
const isToFinish = (state: EndedState): boolean => !state.settled && !isEndedByTasks(state);

/**
 * A command has no due time of its own once all its tasks have items, which saves the two units of a move: the item of
 * each open task is due until the command has its end, and its check at the deadline expires the command.
 */
const dueAt = ({ state, deadline, resolution }: Command): number | undefined => {
  switch (state.status) {
    case "accepted":
      return Math.min(state.lookAt, deadline);
    case "waiting":
      return Math.min(state.lookAt ?? deadline, deadline);
    case "running":
      return state.lease ? state.lease.until : Math.min(state.lookAt, deadline);
    case "following":
      return state.tasksRecorded ? undefined : 0;
    default:
      return isToFinish(state)
        ? (resolution?.resolvedAt ?? state.endedAt) + FINISH_GRACE_MS
        : undefined;
  }
};

/**
 * While a function is at work on a command, its entry in the due index may be so much early or late. Otherwise a
 * command that answers at once would move its entry twice.
 */
export const DUE_SLACK_MS = 30_000;

/** Which entries stay: those of a command that a function is at work on, and changes at once if it lives. */
const keepsEntry = (command: Command, at: number): readonly [from: number, to: number] => {
  const { state, attempts, acceptedAt } = command;
  switch (state.status) {
    case "accepted":
    case "waiting":
      return [at, at];
    case "running":
      return state.lease ? [at - DUE_SLACK_MS, at] : [at, at];
    case "following":
      return [at, (attempts.at(-1)?.endedAt ?? acceptedAt) + DUE_SLACK_MS];
    default:
      return [at - DUE_SLACK_MS, at + DUE_SLACK_MS];
  }
};

export const commands = recordKind({
  kind: "command",
  schema: commandSchema,
  dueAt,
  keepsEntry,
  storedForm: storedCommand,
  expiresAt: ({ state }) =>
    "endedAt" in state && !isToFinish(state) ? state.endedAt + LEDGER_RETENTION_MS : undefined,
  listing: ({ acceptedAt, account, operation, sender, lane }) => ({
    at: acceptedAt,
    account,
    operation,
    sender,
    resource: lane,
  }),
});

/** Sender and id together: a sender cannot name another sender's command. */
export const commandKey = (command: { readonly sender: string; readonly id: string }): string =>
  `${command.sender}/${command.id}`;

/** Reverses `commandKey`. A sender is an AWS account id, so it holds no slash. */
export const splitCommandKey = (key: string): { readonly sender: string; readonly id: string } => {
  const at = key.indexOf("/");
  return { sender: key.slice(0, at), id: key.slice(at + 1) };
};

/** The id of an event of the outbox. */
export const outboxIdOf = (command: Command, entry: Command["outbox"][number]): string =>
  typeof entry === "string" ? eventIdOf(entry, [commandKey(command)]) : entry.deduplicationId;

/** Whether the command has not entered its lane yet. */
export const isBeforeItsLane = ({ state }: Command): boolean =>
  state.status === "accepted" || (state.status === "waiting" && state.lookAt !== undefined);

export const isEnded = (command: Command): command is Command & { state: EndedState } =>
  "endedAt" in command.state;
