import { createHash } from "node:crypto";
import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";
import type { EventPattern } from "./event-patterns/pattern.ts";
import { type EventPath, fillTemplate, leavesOf, type Template, valueAt } from "./template.ts";

/** The parts of a request that a reaction can fill from the event. */
export const REQUEST_PARTS = ["params", "query", "body"] as const;

/** A rule that turns a matching event into a command. */
export interface Reaction {
  readonly name: string;
  readonly when: EventPattern;
  /** `default` for the default bus of the AWS account; undefined for Skyhook's bus. */
  readonly bus: "default" | undefined;
  /** Account at the provider; undefined if the rule has none and there is no accounts file. */
  readonly account: string | undefined;
  /** Path to the value that identifies the command; undefined for the event's id. */
  readonly key: EventPath | undefined;
  readonly operation: Mutation;
  readonly params: Template | undefined;
  readonly query: Template | undefined;
  readonly body: Template | undefined;
  readonly guards: readonly Template[] | undefined;
  /** Time from the event's `time` to the command's deadline, ms. */
  readonly deadlineMs: number | undefined;
}

/** Maximum length of a name in the name of its EventBridge rule, which has at most 64 characters. */
const MAX_RULE_NAME_LENGTH = 34;

/** Finds a reaction by its name or by the name of its rule: a dead letter of a rule has only the latter. */
export const findReaction = (reactions: readonly Reaction[], name: string): Reaction | undefined =>
  reactions.find((reaction) => reaction.name === name) ??
  reactions.find((reaction) => ruleNameOf(reaction.name) === name);

/** Name of a reaction's rule in infra/event-rules.cjs, without the prefix of the stage. */
export const ruleNameOf = (name: string): string => {
  if (name.length <= MAX_RULE_NAME_LENGTH) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_RULE_NAME_LENGTH - hash.length - 1)}-${hash}`;
};

/** The detail of a `CommandRequested`. */
export interface RequestDetail {
  readonly metadata: JsonObject;
  readonly data: JsonObject;
}

export type ReactionOutcome =
  | { readonly kind: "command"; readonly detail: RequestDetail }
  /** The event lacks values that the command needs; the problems have paths into the event. */
  | { readonly kind: "incomplete"; readonly problems: readonly Problem[] };

const MISSING = "not in the event";

/** Maximum length of a key. With a colon and a rule's name it is a command id of at most 128 characters. */
const MAX_KEY_CHARACTERS = 63;

const KEY_RULE = `must be a string of 1 to ${MAX_KEY_CHARACTERS} characters, or a whole number`;
const keySchema = z.union([z.string().min(1).max(MAX_KEY_CHARACTERS), z.int()]);

/** Maximum length of an event's time: room for nanoseconds and an offset. */
const MAX_TIME_CHARACTERS = 40;

/** Fields of the envelope that every command needs. */
const envelopeSchema = z.object({
  id: z.string().min(1).max(MAX_KEY_CHARACTERS),
  time: z.iso
    .datetime({ offset: true, abort: true })
    .max(MAX_TIME_CHARACTERS)
    // A deadline counted from the last days of 9999 would have a year of five digits.
    .refine((time) => !/^(0000|9999)/.test(time), { error: "must have a year from 1 to 9998" }),
});

const correlatedSchema = z.object({
  detail: z.object({ metadata: z.object({ correlationId: z.string().min(1).max(256) }) }),
});

const missingIn = (reaction: Reaction, event: JsonObject): readonly Problem[] => {
  const { key, guards = [] } = reaction;
  const mapped = [...REQUEST_PARTS.map((part) => reaction[part]), ...guards]
    .flatMap((template) => (template ? leavesOf(template) : []))
    .flatMap(({ leaf }) => (leaf.kind === "mapped" ? [leaf.path] : []));
  const missing = [...(key ? [key] : []), ...mapped].filter(
    (path) => valueAt(event, path) === undefined,
  );
  return [...new Set(missing.map(({ text }) => text))].map((path) => ({ path, rule: MISSING }));
};

const keyProblems = ({ key }: Reaction, event: JsonObject): readonly Problem[] => {
  const value = key && valueAt(event, key);
  return !key || value === undefined || keySchema.safeParse(value).success
    ? []
    : [{ path: key.text, rule: KEY_RULE }];
};

/**
 * Returns the id of the command that a rule makes of an event: the value at the rule's `key`, or the
 * event's id without one; a colon; the rule's name.
 */
export const commandIdOf = (
  { name, key }: Reaction,
  event: JsonObject,
  eventId: string,
): string => {
  const named = keySchema.safeParse(key && valueAt(event, key));
  return `${named.success ? named.data : eventId}:${name}`;
};

const filled = (template: Template, event: JsonObject): JsonValue =>
  fillTemplate(template, (path): JsonValue => (path && valueAt(event, path)) ?? null);

/**
 * Returns the command that a rule makes of a matching event; does not check that it matches. Pure, and
 * never throws. The same event makes the same command with the same id.
 * @param event an EventBridge event: `id`, `source`, `account`, `time`, `detail-type`, `detail`
 */
export const commandOf = (reaction: Reaction, event: JsonObject): ReactionOutcome => {
  const envelope = envelopeSchema.safeParse(event);
  const problems = [
    ...problemsOf(envelope.error?.issues ?? []).map(({ path, rule }) => ({
      path: `$.${path}`,
      rule: rule === "required" ? MISSING : rule,
    })),
    ...keyProblems(reaction, event),
    ...missingIn(reaction, event),
  ];
  if (!envelope.success || problems.length > 0) return { kind: "incomplete", problems };
  const { id, time } = envelope.data;
  const { operation, account, guards, deadlineMs } = reaction;
  const correlated = correlatedSchema.safeParse(event);
  const parts = REQUEST_PARTS.flatMap((part) => {
    const template = reaction[part];
    return template ? [[part, filled(template, event)] as const] : [];
  });
  return {
    kind: "command",
    detail: {
      metadata: {
        id,
        commandId: commandIdOf(reaction, event, id),
        correlationId: correlated.data?.detail.metadata.correlationId ?? id,
        time,
      },
      data: {
        operation: operation.id,
        ...(account !== undefined && { account }),
        ...Object.fromEntries(parts),
        ...(guards && { guards: guards.map((guard) => filled(guard, event)) }),
        ...(deadlineMs !== undefined && {
          deadline: new Date(Date.parse(time) + deadlineMs).toISOString(),
        }),
      },
    },
  };
};
