import type { Mutation } from "../contract/operation.ts";
import type { EventPattern } from "../event-patterns/pattern.ts";
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
  readonly operation: Mutation;
  readonly params: Template | undefined;
  readonly query: Template | undefined;
  readonly body: Template | undefined;
  readonly guards: readonly Template[] | undefined;
  /** How long after the event the command may still run, ms. */
  readonly deadlineMs: number | undefined;
}
