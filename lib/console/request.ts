import type { Context } from "hono";
import type * as z from "zod";
import { Refusal } from "../admin/admin.ts";
import { parseJson, readText } from "../contract/json.ts";
import { problemsOf, problemsText } from "../contract/problem.ts";

const MAX_BODY_BYTES = 256 * 1024;

const tooLarge = (): Refusal => new Refusal(413, "the body is larger than 256 KiB");

/** Reads the body of a request that changes something. @throws Refusal for an empty or too large one */
export const bodyOf = async ({ req }: Context): Promise<string> => {
  // Refuses before it reads the body, while the sender still reads the response.
  if (Number(req.header("content-length")) > MAX_BODY_BYTES) throw tooLarge();
  const { text, isWhole } = await readText(req.raw, MAX_BODY_BYTES);
  if (!isWhole) throw tooLarge();
  if (text === "") throw new Refusal(400, "the body is empty; send a JSON object");
  return text;
};

const parsed = <S extends z.ZodType>(schema: S, given: unknown, refusal?: string): z.output<S> => {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new Refusal(400, refusal ?? problemsText(problemsOf(read.error.issues)));
};

/** @throws Refusal for a body that the schema refuses, by default with its problems */
export const parsedBody = async <S extends z.ZodType>(
  context: Context,
  schema: S,
  refusal?: string,
): Promise<z.output<S>> => parsed(schema, parseJson(await bodyOf(context)), refusal);

/** @throws Refusal with the problems of a query that the schema refuses */
export const parsedQuery = <S extends z.ZodType>({ req }: Context, schema: S): z.output<S> =>
  parsed(schema, req.query());

/** @throws Refusal for an unknown name */
export const found = <T>(answer: T | undefined, what: string): T => {
  if (answer === undefined) throw new Refusal(404, `no such ${what}`);
  return answer;
};
