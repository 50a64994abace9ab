import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";
import { type InvalidFields, invalid } from "./errors.ts";

/** A request's values as they arrived: all text, except for the body's JSON. */
export interface RawValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly body: unknown;
}

export interface ValueSchemas<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** What a text can stand for. Only the canonical form of a whole number counts as a number. */
const readingsOf = (text: string): unknown[] => {
  if (/^(0|-?[1-9]\d*)$/.test(text)) return [text, Number(text)];
  return text === "true" || text === "false" ? [text, text === "true"] : [text];
};

const failsAsWrongType = (schema: z.ZodType, value: unknown): boolean =>
  schema
    .safeParse(value)
    .error?.issues.some(({ code, path }) => code === "invalid_type" && path.length === 0) ?? false;

/**
 * The reading of the text that the field's schema takes: the schema alone decides between 7 and "7",
 * and between one value and a list. When it takes none, the one of the right type, so that the
 * refusal names the rule that is broken and not the type of the text.
 */
const readField = (schema: z.ZodType, texts: readonly string[]): unknown => {
  const [first = "", ...more] = texts;
  const lists = [texts, texts.map((text) => readingsOf(text).at(-1))];
  const candidates = more.length === 0 ? [...readingsOf(first), ...lists] : lists;
  return (
    candidates.find((value) => schema.safeParse(value).success) ??
    candidates.find((value) => !failsAsWrongType(schema, value)) ??
    candidates[0]
  );
};

const readFields = (
  schema: z.ZodObject,
  fields: Readonly<Record<string, readonly string[]>>,
): unknown =>
  Object.fromEntries(
    Object.entries(fields).map(([name, texts]) => {
      const field = schema.shape[name];
      return [name, field instanceof z.ZodType ? readField(field, texts) : texts];
    }),
  );

type Part = "path" | "query" | "body";

/** Rules by field; a rule about a part as a whole is filed under the part's own name. */
const collect = (errors: readonly (readonly [Part, z.ZodError | undefined])[]): InvalidFields => {
  const fields = new Map<string, string[]>();
  for (const [part, error] of errors) {
    for (const { path, rule } of problemsOf(error?.issues ?? [])) {
      const field = path || part;
      fields.set(field, [...(fields.get(field) ?? []), rule]);
    }
  }
  return Object.fromEntries(fields);
};

/**
 * Reads a request's values by an operation's schemas, all problems of all three parts together.
 * @throws RefusedError 400 naming each field and the rule it breaks, never a value
 */
export const readValues = <P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  schemas: ValueSchemas<P, Q, B>,
  raw: RawValues,
): { params: z.output<P>; query: z.output<Q>; body: z.output<B> } => {
  const pathTexts = Object.entries(raw.params).map(([name, text]) => [name, [text]]);
  const params = schemas.params.safeParse(
    readFields(schemas.params, Object.fromEntries(pathTexts)),
  );
  const query = schemas.query.safeParse(readFields(schemas.query, raw.query));
  const body = schemas.body.safeParse(raw.body);
  if (!params.success || !query.success || !body.success) {
    throw invalid(
      collect([
        ["path", params.error],
        ["query", query.error],
        ["body", body.error],
      ]),
    );
  }
  return { params: params.data, query: query.data, body: body.data };
};
