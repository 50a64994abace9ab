import * as z from "zod";
import type { Problem } from "../contract/problem.ts";
import { eventIdOf, listedProblems } from "../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../ledger/outbox.ts";
import {
  type Command,
  type CommandEventName,
  commandKey,
  type EndedState,
  type FollowedTask,
  isEnded,
  type SeenTag,
} from "./command.ts";
import { END_EVENTS, endCommand } from "./command-transitions.ts";

/**
 * A result that is larger as JSON text is left out of the event: it can be read at the provider.
 */
const MAX_RESULT_BYTES = 64_000;

/**
 * Whether a part of the provider's reply fits into a record and an event beside the other fields.
 */
export const isSmall = (json: unknown): boolean =>
  Buffer.byteLength(JSON.stringify(json ?? null)) <= MAX_RESULT_BYTES;

/** Plain JSON of a provider's reply; integers that JSON would round become decimal strings. */
const plainJson = (value: unknown) =>
  z
    .json()
    .parse(
      JSON.parse(
        JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)),
      ),
    );

/** A command publishes each type of event once. */
const identityOf = (command: Command) => [commandKey(command)];

const aboutCommand = (command: Command) => ({
  identity: identityOf(command),
  subject: command.lane,
  correlationId: command.correlationId,
  causationId: command.causationId,
  account: command.account,
  sender: command.sender,
  commandId: command.id,
});

const subjectOf = ({ operation, params, lane }: Command) => ({ operation, params, lane });

/** The conditions of a command that its events show. */
const conditionsOf = ({ after, dryRun }: Command) => ({
  ...(after && { after }),
  ...(dryRun && { dryRun }),
});

const commandAccepted = (command: Command): OutboxEvent =>
  outboxEvent({
    ...aboutCommand(command),
    detailType: "CommandAccepted",
    time: command.acceptedAt,
    data: {
      ...subjectOf(command),
      ...conditionsOf(command),
      deadline: new Date(command.deadline).toISOString(),
    },
  });

/**
 * Time from acceptance to end, ms. At least 0: clocks of two machines may differ by more than a fast
 * command takes.
 */
export const durationMsOf = ({ acceptedAt }: Command, endedAt: number): number =>
  Math.max(0, endedAt - acceptedAt);

type EndedCommand = Command & { readonly state: EndedState };

const endData = (command: EndedCommand) => ({
  ...subjectOf(command),
  attempts: command.attemptCount,
  lostReplies: command.lostReplies,
  taskIds: command.state.tasks.map(({ id }) => id),
  durationMs: durationMsOf(command, command.state.endedAt),
  ...conditionsOf(command),
});

/** The resources that several tasks created, by kind; undefined when there are none. */
export const createdBy = (tasks: readonly FollowedTask[]) => {
  // The provider chooses the names of the kinds: `constructor` may be one.
  const merged = new Map<string, (string | number)[]>();
  for (const { end } of tasks) {
    for (const [kind, ids] of Object.entries(end?.createdResources ?? {})) {
      if (ids && ids.length > 0) merged.set(kind, [...(merged.get(kind) ?? []), ...ids]);
    }
  }
  return merged.size > 0 ? Object.fromEntries(merged) : undefined;
};

/** A request as it would be sent, without secrets. */
export interface WouldSend {
  readonly method: string;
  /** Path and query, without the provider's address. */
  readonly path: string;
  readonly body?: unknown;
}

/** The form for records and events, without a large body. */
const wouldSendData = ({ method, path, body }: WouldSend) => {
  const json = body === undefined ? undefined : plainJson(body);
  return { method, path, ...(json !== undefined && isSmall(json) && { body: json }) };
};

const wouldSendOf = ({ method, path, body }: NonNullable<EndedState["wouldSend"]>) => ({
  ...{ method, path },
  ...(body !== undefined && { body }),
});

/** The event of an end, from what the command records of it. */
const commandEnded = (command: Command): OutboxEvent => {
  if (!isEnded(command)) throw new Error("a command that has not ended has no event of its end");
  const { status, endedAt, outcome = "done", problems = [], ...end } = command.state;
  const about = { ...aboutCommand(command), time: endedAt };
  const data = endData(command);
  switch (status) {
    case "succeeded": {
      const createdResources = createdBy(end.tasks);
      return outboxEvent({
        ...about,
        detailType: END_EVENTS.succeeded,
        data: {
          ...{ ...data, outcome },
          ...(createdResources && { createdResources }),
          ...(end.result !== undefined && { result: end.result }),
          ...(end.wouldSend && { wouldSend: wouldSendOf(end.wouldSend) }),
        },
      });
    }
    case "failed": {
      const reason = end.reason as Failure["reason"];
      const detailType = END_EVENTS.failed;
      return outboxEvent({ ...about, detailType, data: { ...data, reason, problems } });
    }
    case "cancelled": {
      const reason = end.reason as Cancellation["reason"];
      const tag = end.tag !== undefined && { tag: end.tag };
      const detailType = END_EVENTS.cancelled;
      return outboxEvent({ ...about, detailType, data: { ...data, reason, problems, ...tag } });
    }
    default:
      return status satisfies never;
  }
};

/** The event of an operator's finding about an unknown outcome. */
const commandResolved = (command: Command): OutboxEvent => {
  const { resolution } = command;
  if (!resolution) throw new Error("a command without a resolution has no event of it");
  const { applied, note, resolvedAt } = resolution;
  return outboxEvent({
    ...aboutCommand(command),
    detailType: "CommandResolved",
    time: resolvedAt,
    data: { ...subjectOf(command), applied, ...(note !== undefined && { note }) },
  });
};

const EVENT_OF: Readonly<Record<CommandEventName, (command: Command) => OutboxEvent>> = {
  CommandAccepted: commandAccepted,
  CommandSucceeded: commandEnded,
  CommandFailed: commandEnded,
  CommandCancelled: commandEnded,
  CommandResolved: commandResolved,
};

/** The events that the command has still to publish, in order. */
export const unpublishedEvents = (command: Command): readonly OutboxEvent[] =>
  command.outbox.map((entry) => (typeof entry === "string" ? EVENT_OF[entry](command) : entry));

interface Success {
  readonly now: number;
  readonly outcome: NonNullable<EndedState["outcome"]>;
  /** The provider's reply to an immediate operation. */
  readonly result?: unknown;
  /** The request that a dry run would have sent. */
  readonly wouldSend?: WouldSend;
}

/** Ends a command as succeeded and queues its event. An ended command stays unchanged. */
export const succeed = (command: Command, success: Success): Command => {
  const { now, outcome, wouldSend } = success;
  const result = success.result === undefined ? undefined : plainJson(success.result);
  return endCommand(command, {
    ...{ status: "succeeded", endedAt: now, outcome },
    ...(wouldSend && { wouldSend: wouldSendData(wouldSend) }),
    ...(result !== undefined && isSmall(result) && { result }),
  });
};

interface Failure {
  readonly now: number;
  readonly reason: "deadline" | "refused" | "task-failed" | "task-unknown" | "unknown-outcome";
  readonly problems: readonly Problem[];
}

/** Ends a command as failed and queues its event. An ended command stays unchanged. */
export const fail = (command: Command, { now, reason, problems: given }: Failure): Command => {
  const problems = listedProblems(given);
  return endCommand(command, { status: "failed", endedAt: now, reason, problems });
};

interface Cancellation {
  readonly now: number;
  readonly reason: "dependency" | "guard" | "requested";
  readonly problems: readonly Problem[];
  /** The tag that a guard read; null when there is none. */
  readonly tag?: SeenTag | null;
}

/** Ends a command without effect and queues its event. An ended command stays unchanged. */
export const cancel = (command: Command, cancellation: Cancellation): Command => {
  const { now, reason } = cancellation;
  const problems = listedProblems(cancellation.problems);
  const tag = cancellation.tag !== undefined && { tag: cancellation.tag };
  return endCommand(command, { status: "cancelled", endedAt: now, reason, problems, ...tag });
};

/** Type, id and time (epoch ms) of each event of the command itself, published or not, the oldest first. */
export const ownEventsOf = (command: Command) => {
  const { acceptedAt, resolution, state } = command;
  const event = (type: CommandEventName, time: number) => ({
    ...{ type, time },
    id: eventIdOf(type, identityOf(command)),
  });
  return [
    event("CommandAccepted", acceptedAt),
    ...("endedAt" in state ? [event(END_EVENTS[state.status], state.endedAt)] : []),
    ...(resolution ? [event("CommandResolved", resolution.resolvedAt)] : []),
  ];
};

/**
 * Describes the newest request that may have taken effect, for the operator who investigates it.
 */
const lostRequest = ({ attempts, attemptCount }: Command): string => {
  const index = attempts.findLastIndex(
    ({ disposition }) => disposition === "ambiguous" || disposition === "lost",
  );
  const attempt = attempts[index];
  if (!attempt) return "a request got no clear reply";
  const number = attemptCount - attempts.length + index + 1;
  // A lost attempt has no code, because the function that sent it died.
  const cause = attempt.code ?? "the function that sent it died";
  return `request ${number} got no clear reply (${cause})`;
};

interface UnexplainedEnd {
  readonly now: number;
  readonly problem: Problem;
  /** Problems after the first. */
  readonly fields?: readonly Problem[];
}

/**
 * Ends a command with an unknown outcome. Names the request without a clear reply, and why its effect
 * stays unknown.
 */
export const leaveUnknown = (
  command: Command,
  { now, problem, fields = [] }: UnexplainedEnd,
): Command => {
  const rule = `${lostRequest(command)}; ${problem.rule}`;
  const problems = [{ path: problem.path, rule }, ...fields];
  return fail(command, { now, reason: "unknown-outcome", problems });
};

/**
 * Ends a command that can never be sent: as refused, or after a lost reply with an unknown outcome.
 */
export const giveUp = (command: Command, end: UnexplainedEnd): Command => {
  const { now, problem, fields = [] } = end;
  return command.uncertain
    ? leaveUnknown(command, end)
    : fail(command, { now, reason: "refused", problems: [problem, ...fields] });
};

/** Ends a command at its deadline; a send that was never answered makes the outcome unknown. */
export const expire = (command: Command, now: number): Command =>
  command.uncertain && command.state.status !== "following"
    ? leaveUnknown(command, { now, problem: { path: "", rule: "the deadline passed" } })
    : fail(command, {
        now,
        reason: "deadline",
        problems: [{ path: "deadline", rule: lastTrouble(command) }],
      });

/** Why a command did not end before its deadline. */
const lastTrouble = ({ state, attempts, attemptCount }: Command): string => {
  switch (state.status) {
    case "following": {
      const open = state.tasks.filter(({ end }) => !end).map(({ id }) => id);
      return `passed before the provider showed the end of these tasks: ${open.join(", ")}`;
    }
    case "waiting":
      return state.lookAt === undefined
        ? "passed while the command waited in its lane"
        : "passed while the command waited for the commands in after";
    default: {
      const because = state.status === "running" ? state.because : undefined;
      if (because !== undefined) return `passed while the command could not be sent: ${because}`;
      const code = attempts.at(-1)?.code;
      return code
        ? `passed after ${attemptCount} attempts; the last one failed with ${code}`
        : "passed before the first attempt";
    }
  }
};
