import * as z from "zod";

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
export const createTextReader = (schema: z.ZodObject) => {
  const readers = readersOf(schema);
  return (fields: Iterable<readonly [string, readonly string[]]>): unknown => {
    // Without a prototype, so that a field named __proto__ is a field.
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, texts] of fields) values[name] = readers.get(name)?.(texts) ?? texts;
    return values;
  };
};
