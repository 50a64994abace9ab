import {
  type EventPattern,
  matchesPattern,
  readPattern,
} from "../../../../lib/intake/event-patterns/pattern.ts";
import type { JsonObject } from "../../../../lib/platform/ports/ledger.ts";

/** Reads a pattern; throws for an invalid one. */
export const patternOf = (raw: unknown): EventPattern => {
  const read = readPattern(raw);
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  return read.pattern;
};

export const isMatch = (raw: unknown, event: JsonObject): boolean =>
  matchesPattern(patternOf(raw), event);

/** Returns the problems of a pattern, each as `path: rule`. */
export const problemsOf = (raw: unknown): readonly string[] => {
  const read = readPattern(raw);
  if (read.kind === "valid") return [];
  return read.problems.map(({ path, rule }) => `${path.map(String).join(".")}: ${rule}`);
};
