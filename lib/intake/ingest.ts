import { createHash } from "node:crypto";
import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";
import { followTask } from "../contract/tasks.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { groupIdOf } from "../engine/lane.ts";
import { sealRequest } from "../engine/queue-message.ts";
import { identityOf, readRequest } from "../engine/read-request.ts";
import { type RejectDeps, rejectRequest } from "../engine/rejection.ts";
import type { ReadRequest, Rejection, RequestContext } from "../engine/request.ts";
import { type BusEvent, eventFields, type IntakeCall, readCall, sentAtOf } from "./bus-event.ts";
import { commandIdOf, commandOf, type Reaction, reactionNamed } from "./reaction.ts";

/** The detail of a `TaskFollowRequested`: what a sender writes to be told of a task's end. */
const taskFollowSchema = z.looseObject({
  data: z.strictObject({
    taskId: z.string().min(1),
    account: z.string().min(1).optional(),
    after: z.array(z.string()).optional(),
    deadline: z.string().optional(),
  }),
});

/**
 * Reads it as the command that it stands for.
 * @returns what was read, with the detail of that command's `CommandRequested`
 */
export const readTaskFollow = (
  raw: unknown,
  context: RequestContext,
): { readonly read: ReadRequest; readonly detail: unknown } => {
  const { data: follow, error } = taskFollowSchema.safeParse(raw);
  if (follow) {
    const { taskId, ...rest } = follow.data;
    const data = { ...rest, operation: followTask.id, params: { task_id: taskId } };
    const detail = { ...follow, data };
    return { read: readRequest(detail, context), detail };
  }
  const problems = problemsOf(error.issues).map(({ path, rule }) => ({
    path: path.replace(/^data\./, ""),
    rule,
  }));
  const identity = { ...identityOf(raw, context), operation: followTask.id };
  const rejection = { reason: "invalid", problems, ...identity } as const;
  return { read: { kind: "rejected", rejection }, detail: raw };
};

export interface IntakeDeps
  extends RejectDeps,
    Pick<CommandDeps, "access" | "ownSender" | "queue"> {
  /** `source` of our own events. */
  readonly eventSource: string;
  readonly reactions: readonly Reaction[];
}

/** Why nothing comes of an event: it is not for us, or not from whom it says. */
type IgnoreReason = "foreign-source" | "not-an-event" | "other-type";

/** A request as an event asks for it, and the detail that it was read from. */
interface Asked {
  readonly read: ReadRequest;
  readonly detail: unknown;
}

const ignore = (deps: IntakeDeps, reason: IgnoreReason, event?: BusEvent): void => {
  deps.metrics.count("EventIgnored", { reason });
  deps.log.warn("event ignored", { reason, ...(event && eventFields(event)) });
};

const askedBy = (event: BusEvent, context: RequestContext): Asked | undefined => {
  switch (event["detail-type"]) {
    case "CommandRequested":
      return { read: readRequest(event.detail, context), detail: event.detail };
    case "TaskFollowRequested":
      return readTaskFollow(event.detail, context);
    default:
      return undefined;
  }
};

const askedByReaction = (reaction: Reaction, event: BusEvent, context: RequestContext): Asked => {
  const outcome = commandOf(reaction, event);
  if (outcome.kind === "command") {
    return { read: readRequest(outcome.detail, context), detail: outcome.detail };
  }
  const rejection: Rejection = {
    reason: "invalid",
    problems: outcome.problems,
    sender: context.sender,
    operation: reaction.operation.id,
    commandId: commandIdOf(reaction, event, event.id),
    eventId: event.id,
    correlationId: undefined,
  };
  return { read: { kind: "rejected", rejection }, detail: event.detail };
};

/**
 * @throws Error for a reaction that this function does not know: its rule is newer, and the event
 * has to come again
 */
const reactionOf = ({ reactions }: Pick<IntakeDeps, "reactions">, name: string): Reaction => {
  const found = reactionNamed(reactions, name);
  if (!found) throw new Error("the rule of an unknown reaction has called");
  return found;
};

/** Two reactions make two commands of one event; the queue must not take one for the other. */
const deduplicationIdOf = (event: BusEvent, reaction: string | undefined): string =>
  createHash("sha256")
    .update(JSON.stringify([event.account, event.id, reaction ?? null]))
    .digest("hex");

/** The id of the command that a reaction makes of an event; undefined: no such reaction is known. */
export const reactionCommandId = (
  reactions: IntakeDeps["reactions"],
  name: string,
  event: BusEvent,
): string | undefined => {
  const reaction = reactionNamed(reactions, name);
  return reaction && commandIdOf(reaction, event, event.id);
};

/**
 * Reads the request that a rule's call asks for, or its rejection. Pure.
 * @returns undefined for an event that asks for nothing
 * @throws Error for a reaction that this function does not know
 */
export const readAsked = (
  deps: Pick<IntakeDeps, "access" | "reactions">,
  { event, reaction: name }: IntakeCall,
): Asked | undefined => {
  const { access } = deps;
  const context = { sender: event.account, eventId: event.id, sentAt: sentAtOf(event), access };
  return name === undefined
    ? askedBy(event, context)
    : askedByReaction(reactionOf(deps, name), event, context);
};

/**
 * Takes in what a rule of the bus sends: a request becomes a message of the command queue or a
 * rejection, everything else is counted. What comes twice ends the same.
 * @throws Error when queue or bus did not take it; the event comes again
 */
export const takeIn = async (given: IntakeDeps, raw: unknown): Promise<void> => {
  const call = readCall(raw);
  if (!call) return ignore(given, "not-an-event");
  const { event } = call;
  const sender = event.account;
  const deps = { ...given, log: given.log.with(eventFields(event)) };
  // Our events tell of facts; anybody else who uses our name wants to be taken for us.
  if (event.source === deps.eventSource && sender !== deps.ownSender) {
    return ignore(deps, "foreign-source", event);
  }
  const asked = readAsked(deps, call);
  if (!asked) return ignore(deps, "other-type", event);
  const { read, detail } = asked;
  const deduplicationId = deduplicationIdOf(event, call.reaction);
  if (read.kind === "rejected") return rejectRequest(deps, read.rejection, deduplicationId);
  await deps.queue.send({
    body: sealRequest(
      { sender, eventId: event.id, sentAt: sentAtOf(event), detail: JSON.stringify(detail) },
      deps.fingerprintKey,
    ),
    groupId: groupIdOf(read.request.lane),
    deduplicationId,
  });
};
