import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";
import { type InvalidFields, invalid } from "./errors.ts";

const NO_QUERY: ReadonlyMap<string, readonly string[]> = new Map();

/** The query of a URL; a name that is repeated has several values, in their order. */
export const queryOf = (url: string): ReadonlyMap<string, readonly string[]> => {
  const start = url.indexOf("?");
  if (start < 0) return NO_QUERY;
  const query = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(url.slice(start).split("#")[0])) {
    query.set(name, [...(query.get(name) ?? []), value]);
  }
  return query;
};

type Reader = (texts: readonly string[]) => unknown;

/** What a schema is of, as far as text can tell: JSON Schema's words for it. */
interface Kind {
  readonly type?: unknown;
  readonly format?: unknown;
}

const kindsOf = (schema: z.ZodType): { readonly own: Kind; readonly items: Kind } => {
  const { items, ...own } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return { own, items: typeof items === "object" && !Array.isArray(items) ? items : {} };
};

/** Only the canonical form of a whole number counts as one: a resource has one path. */
const readInteger = (text: string, format: unknown): unknown => {
  const number = Number(text);
  if (/^(0|-?[1-9]\d*)$/.test(text)) {
    return format === "int64" && !Number.isSafeInteger(number) ? BigInt(text) : number;
  }
  // A number all the same, so that the refusal says what is wrong with it.
  return /^-?\d+\.\d+$/.test(text) && !Number.isInteger(number) ? number : text;
};

/** What fits nothing stays text. */
const readText = ({ type, format }: Kind, text: string): unknown => {
  if (type === "integer") return readInteger(text, format);
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  return text;
};

/**
 * Reads a field as the type that its schema is of, which tells 7 from "7" and one value from a list.
 * Text of another type is left as it is, so that the refusal names the rule that it breaks.
 */
const readerOf = (schema: z.ZodType): Reader => {
  const { own, items } = kindsOf(schema);
  if (own.type === "array") return (texts) => texts.map((text) => readText(items, text));
  return (texts) => {
    const [text = ""] = texts;
    return texts.length === 1 ? readText(own, text) : texts;
  };
};

/** One reader for each field of a schema; what has none is unknown, and refused by the schema. */
const readersOf = (schema: z.ZodObject): ReadonlyMap<string, Reader> =>
  new Map(
    Object.entries(schema.shape).flatMap(([name, field]): [string, Reader][] =>
      field instanceof z.ZodType ? [[name, readerOf(field)]] : [],
    ),
  );

/**
 * Reads the fields of a schema from texts, each as the type that the schema gives it. A field that the
 * schema does not have keeps its texts: it is for the schema to refuse it.
 */
const createTextReader = (schema: z.ZodObject) => {
  const readers = readersOf(schema);
  return (fields: Iterable<readonly [string, readonly string[]]>): unknown => {
    // Without a prototype, so that a field named __proto__ is a field.
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, texts] of fields) values[name] = readers.get(name)?.(texts) ?? texts;
    return values;
  };
};

/** A request's values as they arrived: all text, except for the body's JSON. */
export interface RawValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly body: unknown;
}

export interface ValueSchemas<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** Many clients send an empty object with every POST; it says as little as no body. */
const isNothing = (body: unknown): boolean => body === undefined || isDeepStrictEqual(body, {});

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

export interface Values<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

/**
 * Reads requests' values by an operation's schemas, all problems of all three parts together.
 * @throws RefusedError (from the returned function) 400 naming each field and the rule it breaks,
 * never a value
 */
export const createValueReader = <
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
>(
  schemas: ValueSchemas<P, Q, B>,
): ((raw: RawValues) => Values<P, Q, B>) => {
  const readParams = createTextReader(schemas.params);
  const readQuery = createTextReader(schemas.query);
  const takesNoBody = schemas.body instanceof z.ZodUndefined;
  return (raw) => {
    const pathTexts = Object.entries(raw.params).map(([name, text]) => [name, [text]] as const);
    const params = schemas.params.safeParse(readParams(pathTexts));
    const query = schemas.query.safeParse(readQuery(raw.query));
    const body = schemas.body.safeParse(takesNoBody && isNothing(raw.body) ? undefined : raw.body);
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
};
