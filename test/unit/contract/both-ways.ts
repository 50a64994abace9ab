import * as z from "zod";
import { parseWireJson } from "../../../lib/contract/json.ts";
import { problemsOf } from "../../../lib/contract/problem.ts";

const outcome = (result: z.ZodSafeParseResult<unknown>): unknown =>
  result.success
    ? result.data
    : problemsOf(result.error.issues).map(({ path, rule }) => `${path}: ${rule}`);

/** A value as the sender of a command writes it: the value for the wire, or what is wrong with it. */
export const written = (schema: z.ZodType, value: unknown): unknown =>
  outcome(z.safeEncode(schema, value));

/** A value as the wire carries it, in JSON: the value for the inside, or what is wrong with it. */
export const received = (schema: z.ZodType, json: string): unknown =>
  outcome(z.safeDecode(schema, parseWireJson(json)));

/** The same value in both directions; for schemas whose two forms are equal. */
export const bothWays = (schema: z.ZodType, value: unknown) => ({
  written: written(schema, value),
  received: received(schema, JSON.stringify(value)),
});

/** What `bothWays` answers for a value that both directions take as it is. */
export const taken = (value: unknown) => ({ written: value, received: value });

/** What `bothWays` answers for a value that both directions refuse for the same reasons. */
export const refused = (...problems: readonly string[]) => ({
  written: problems,
  received: problems,
});
