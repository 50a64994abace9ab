import { createHash } from "node:crypto";
import type { Mutation } from "../contract/operation.ts";
import type { EventPath } from "./event-path.ts";
import type { EventPattern } from "./event-patterns/pattern.ts";
import type { Template } from "./mapping.ts";

/** The parts of a request that a reaction fills. */
export const PLACES = ["params", "query", "body"] as const;

/** A rule: an event that matches makes a command. */
export interface Reaction {
  readonly name: string;
  readonly when: EventPattern;
  /** `default`: the event arrives on the default bus of the AWS account; absent: on Skyhook's own. */
  readonly bus: "default" | undefined;
  /** Account at the provider; undefined where none is named and accounts are not known. */
  readonly account: string | undefined;
  /** Names the command instead of the event's id; absent: the event's id does. */
  readonly key: EventPath | undefined;
  readonly operation: Mutation;
  readonly params: Template | undefined;
  readonly query: Template | undefined;
  readonly body: Template | undefined;
  readonly guards: readonly Template[] | undefined;
  /** How long after the event the command may still run, ms. */
  readonly deadlineMs: number | undefined;
}

/** Longer names are cut, so that the rule's name has at most the 64 characters of EventBridge. */
const MAX_RULE_NAME_LENGTH = 34;

/** The reaction of that name, or of that rule: a dead letter of a rule names the rule only. */
export const reactionNamed = (reactions: readonly Reaction[], name: string): Reaction | undefined =>
  reactions.find((reaction) => reaction.name === name) ??
  reactions.find((reaction) => ruleNameOf(reaction.name) === name);

/** How infra/intake-rules.cjs calls a reaction's rule, behind the prefix of its stage. */
export const ruleNameOf = (name: string): string => {
  if (name.length <= MAX_RULE_NAME_LENGTH) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_RULE_NAME_LENGTH - hash.length - 1)}-${hash}`;
};
