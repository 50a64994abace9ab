import { createHash } from "node:crypto";
import { problemsOf } from "../contract/problem.ts";
import { followTask } from "../contract/tasks.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { groupIdOf } from "../engine/lane.ts";
import { sealRequest } from "../engine/queue-message.ts";
import { identityOf, readRequest } from "../engine/read-request.ts";
import { type RejectDeps, rejectRequest } from "../engine/rejection.ts";
import type { ReadRequest, Rejection, RequestContext } from "../engine/request.ts";
import { taskFollowSchema } from "../events/requests.ts";
import { type BusEvent, eventFields, type IntakeCall, readCall, sentAtOf } from "./bus-event.ts";
import { commandIdOf, commandOf, findReaction, type Reaction } from "./reaction.ts";

/** The request that an event makes, or its rejection. */
interface EventRequest {
  readonly read: ReadRequest;
  /** The detail of the `CommandRequested` from which it was read. */
  readonly detail: unknown;
}

/** Reads the detail of a `TaskFollowRequested` as a `follow-task` command. */
export const readTaskFollow = (raw: unknown, context: RequestContext): EventRequest => {
  const { data: follow, error } = taskFollowSchema().safeParse(raw);
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

const readByType = (event: BusEvent, context: RequestContext): EventRequest | undefined => {
  switch (event["detail-type"]) {
    case "CommandRequested":
      return { read: readRequest(event.detail, context), detail: event.detail };
    case "TaskFollowRequested":
      return readTaskFollow(event.detail, context);
    default:
      return undefined;
  }
};

const readByReaction = (
  reaction: Reaction,
  event: BusEvent,
  context: RequestContext,
): EventRequest => {
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

/** Returns the id of the command that a reaction makes of an event; undefined for an unknown reaction. */
export const reactionCommandId = (
  reactions: readonly Reaction[],
  name: string,
  event: BusEvent,
): string | undefined => {
  const reaction = findReaction(reactions, name);
  return reaction && commandIdOf(reaction, event, event.id);
};

/**
 * Reads the request in the message of a rule. Pure.
 * @returns undefined for an event that is not a request
 * @throws Error for an unknown reaction: its rule is newer than this function, so the event must be
 * delivered again
 */
export const readEventRequest = (
  { access, reactions }: Pick<IntakeDeps, "access" | "reactions">,
  { event, reaction: name }: IntakeCall,
): EventRequest | undefined => {
  const context = { sender: event.account, eventId: event.id, sentAt: sentAtOf(event), access };
  if (name === undefined) return readByType(event, context);
  const reaction = findReaction(reactions, name);
  if (!reaction)
    throw new Error("event from the rule of an unknown reaction; a newer version must handle it");
  return readByReaction(reaction, event, context);
};

export interface IntakeDeps
  extends RejectDeps,
    Pick<CommandDeps, "access" | "ownSender" | "queue"> {
  /** `source` of our own events. */
  readonly eventSource: string;
  readonly reactions: readonly Reaction[];
}

type IgnoreReason = "foreign-source" | "not-an-event" | "other-type";

const ignore = (deps: IntakeDeps, reason: IgnoreReason, event?: BusEvent): void => {
  deps.metrics.count("EventIgnored", { reason });
  deps.log.warn("event ignored", { reason, ...(event && eventFields(event)) });
};

/** Deduplication id by event and reaction: two reactions to one event make two commands. */
const deduplicationIdOf = (event: BusEvent, reaction: string | undefined): string =>
  createHash("sha256")
    .update(JSON.stringify([event.account, event.id, reaction ?? null]))
    .digest("hex");

/**
 * Turns the message of a bus rule into a message of the command queue or a rejection. Counts other messages
 * as `EventIgnored`. Repeatable.
 * @throws Error when the queue or the bus fails; the event is then delivered again
 */
export const ingest = async (given: IntakeDeps, raw: unknown): Promise<void> => {
  const call = readCall(raw);
  if (!call) return ignore(given, "not-an-event");
  const { event } = call;
  const sender = event.account;
  const deps = { ...given, log: given.log.with(eventFields(event)) };
  // Only Skyhook publishes under its source: another AWS account that uses it impersonates Skyhook.
  if (event.source === deps.eventSource && sender !== deps.ownSender) {
    return ignore(deps, "foreign-source", event);
  }
  const request = readEventRequest(deps, call);
  if (!request) return ignore(deps, "other-type", event);
  const { read, detail } = request;
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
