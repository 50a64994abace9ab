import * as z from "zod";
import { parseWireJson } from "../../../lib/contract/json.ts";
import { problemsOf } from "../../../lib/contract/problem.ts";

const outcome = (result: z.ZodSafeParseResult<unknown>): unknown =>
  result.success
    ? result.data
    : problemsOf(result.error.issues).map(({ path, rule }) => `${path}: ${rule}`);

/** Encodes a value from the sender of a command: the value on the wire, or the problems. */
export const written = (schema: z.ZodType, value: unknown): unknown =>
  outcome(z.safeEncode(schema, value));

/** Decodes JSON from the wire: the decoded value, or the problems. */
export const received = (schema: z.ZodType, json: string): unknown =>
  outcome(z.safeDecode(schema, parseWireJson(json)));

/** Encodes and decodes the same value, for schemas that have one form in both directions. */
export const bothWays = (schema: z.ZodType, value: unknown) => ({
  written: written(schema, value),
  received: received(schema, JSON.stringify(value)),
});

/** Result of `bothWays` for a value that both directions leave unchanged. */
export const accepted = (value: unknown) => ({ written: value, received: value });

/** Result of `bothWays` for a value that both directions refuse with the same problems. */
export const refused = (...problems: readonly string[]) => ({
  written: problems,
  received: problems,
});
