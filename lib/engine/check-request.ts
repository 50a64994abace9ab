import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { type CommandRequestBody, requestSchema } from "./command.ts";

const checkPlace = (
  schema: z.ZodType,
  raw: unknown,
  name: string,
): { readonly value: unknown; readonly problems: readonly Problem[] } => {
  // Encoding checks the decoded form that senders write; decoding gives it one canonical form.
  const wire = z.safeEncode(schema, raw);
  return wire.success
    ? { value: z.decode(schema, wire.data), problems: [] }
    : { value: undefined, problems: problemsOf(wire.error.issues, [name]) };
};

/** Checks params, query and body together, so that one answer names every offending field. */
export const checkRequest = (
  operation: Mutation,
  data: Readonly<Record<string, unknown>>,
):
  | { readonly request: CommandRequestBody }
  | { readonly request?: never; readonly problems: readonly Problem[] } => {
  const params = checkPlace(operation.params, data.params ?? {}, "params");
  const query = checkPlace(operation.query, data.query ?? {}, "query");
  const body = checkPlace(operation.body, data.body, "body");
  const problems = [...params.problems, ...query.problems, ...body.problems];
  return problems.length > 0
    ? { problems }
    : {
        request: requestSchema.parse({
          params: params.value,
          query: query.value,
          ...(body.value !== undefined && { body: body.value }),
        }),
      };
};
