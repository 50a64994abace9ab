/**
 * `skyhook/event-patterns`: whether an event matches an EventBridge event pattern, by the rules of an event bus. For
 * tests of rules, without AWS.
 */
import { type Problem, pathText, problemsText } from "../contract/problem.ts";
import { matchesPattern, mismatchedFields, readPattern } from "../intake/event-patterns/pattern.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";

export type { Problem } from "../contract/problem.ts";

/** A pattern that EventBridge would refuse. */
export class EventPatternError extends Error {
  override readonly name = "EventPatternError";
  /** Each broken rule with its path in the pattern, such as `detail.state.0`. Never contains a value. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`invalid event pattern: ${problemsText(problems)}`);
    this.problems = problems;
  }
}

export interface EventPattern {
  /**
   * Whether EventBridge delivers the event to a rule with this pattern.
   * @param event whole event as a target gets it: `source`, `detail-type`, `detail` and so on
   */
  matches(event: object): boolean;
  /**
   * Names of the fields on which the event fails, such as `detail.state`; empty for a match. With `$or`, those of the
   * alternative with the fewest.
   */
  mismatches(event: object): readonly string[];
}

/** A JSON object has no other values than its own fields. */
const isJsonObject = (value: object): value is JsonObject => !Array.isArray(value);

const eventOf = (event: object): JsonObject => (isJsonObject(event) ? event : {});

/**
 * Reads a pattern once, to match many events.
 * @param pattern the pattern as an object, not as JSON text
 * @throws EventPatternError with every problem
 */
export const readEventPattern = (pattern: object): EventPattern => {
  const read = readPattern(pattern);
  if (read.kind === "invalid") {
    throw new EventPatternError(
      read.problems.map(({ path, rule }) => ({ path: pathText(path), rule })),
    );
  }
  return {
    matches: (event) => matchesPattern(read.pattern, eventOf(event)),
    mismatches: (event) => mismatchedFields(read.pattern, eventOf(event)),
  };
};

/**
 * Whether EventBridge delivers the event to a rule with the pattern.
 * @throws EventPatternError for a pattern that EventBridge would refuse
 */
export const matchesEvent = (pattern: object, event: object): boolean =>
  readEventPattern(pattern).matches(event);
