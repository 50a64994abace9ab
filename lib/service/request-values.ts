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

/** JSON Schema's words for the type of a value. */
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
  // Still a number, so that the refusal names the rule about whole numbers.
  return /^-?\d+\.\d+$/.test(text) && !Number.isInteger(number) ? number : text;
};

const readText = ({ type, format }: Kind, text: string): unknown => {
  if (type === "integer") return readInteger(text, format);
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  return text;
};

/** Reads a field as its schema's type. Other text stays text, so that the refusal names the broken rule. */
const readerOf = (schema: z.ZodType): Reader => {
  const { own, items } = kindsOf(schema);
  if (own.type === "array") return (texts) => texts.map((text) => readText(items, text));
  return (texts) => {
    const [text = ""] = texts;
    return texts.length === 1 ? readText(own, text) : texts;
  };
};

/** Reads the fields of a schema from texts. An unknown field keeps its texts; the schema refuses it. */
const createTextReader = (schema: z.ZodObject) => {
  const readers = new Map(
    Object.entries(schema.shape).flatMap(([name, field]): [string, Reader][] =>
      field instanceof z.ZodType ? [[name, readerOf(field)]] : [],
    ),
  );
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

/**
 * Reads requests' values by an operation's schemas.
 * @throws RefusedError (from the returned function) 400 naming every field of the three parts that
 * breaks a rule, never a value
 */
export const createValueReader = <
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
>(schemas: {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}) => {
  const readParams = createTextReader(schemas.params);
  const readQuery = createTextReader(schemas.query);
  const takesNoBody = schemas.body instanceof z.ZodUndefined;
  return (raw: RawValues) => {
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
