import * as z from "zod";
import { type DetailType, EVENT_DATA } from "./catalogue.ts";
import { DETAIL_TYPES, eventSchemaOf } from "./envelope.ts";
import {
  isRequestType,
  REQUEST_DETAIL,
  type RequestType,
  requestSchemaOf,
} from "./request-envelope.ts";
import { DETAIL_VERSION } from "./version.ts";

/** A JSON Schema (draft 2020-12). Needs no other file: it refers to nothing outside itself. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

const sentence = (text: string): string => (text.endsWith(".") ? text : `${text}.`);

/** Leaves out what only repeats JSON's own rules, and keywords that validators in strict mode refuse. */
const simplify = ({ jsonSchema: schema }: { readonly jsonSchema: JsonSchema }): void => {
  const { meanings } = schema;
  if (typeof meanings === "object" && meanings !== null) {
    const lines = Object.entries(meanings).map(([value, text]) => `\`${value}\`: ${text}.`);
    schema.description = [sentence(schema.description ?? ""), ...lines].join(" ");
    delete schema.meanings;
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === "date-time") delete schema.pattern;
  if (schema.additionalProperties !== false) delete schema.propertyNames;
};

/**
 * Zod refers to `$defs` only for `z.json()`, and every JSON value is valid there. It writes alternatives as a list
 * of types, of which validators in strict mode warn unless one is null.
 */
const inline = (_key: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { $ref: _, ...schema }: Readonly<Record<string, unknown>> = { ...value };
  if (!Array.isArray(schema.type) || schema.type.includes("null")) return schema;
  const { type, ...rest } = schema;
  return { ...rest, anyOf: type.map((each) => ({ type: each })) };
};

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const mapped = (
  schemas: Readonly<Record<string, unknown>>,
  change: (schema: JsonSchema, name: string) => JsonSchema,
) =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, each]) => [
      name,
      isSchema(each) ? change(each, name) : true,
    ]),
  );

const inlineSchemaOf = (schema: z.ZodType): JsonSchema => {
  const {
    $defs: _,
    $schema: __,
    ...made
  } = z.toJSONSchema(schema, {
    io: "input",
    override: simplify,
    unrepresentable: "any",
  });
  return JSON.parse(JSON.stringify(made, inline));
};

const pascal = (name: string): string =>
  name.replace(/(^|[-_])(\w)/g, (_match, _separator, letter: string) => letter.toUpperCase());

/** Names each object by its path, because generators of code name the types by the titles. */
const titled = (schema: JsonSchema, title: string): JsonSchema => {
  const { properties, items, anyOf } = schema;
  // `detail` is left out of the names below it: `CommandFailedData` is `detail.data`.
  const parent = title.replace(/Detail$/, "");
  return {
    ...(properties && { title }),
    ...schema,
    ...(properties && {
      properties: mapped(properties, (each, name) => titled(each, parent + pascal(name))),
    }),
    ...(isSchema(items) && { items: titled(items, `${title}Item`) }),
    ...(anyOf && { anyOf: anyOf.map((each) => (isSchema(each) ? titled(each, title) : each)) }),
  };
};

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** A name, not an address: the schemas travel in the package, and no server has them. */
const idOf = (name: string): string => `urn:skyhook:event:${name}:${DETAIL_VERSION}`;

/** JSON Schema of an event or a request in EventBridge's envelope. */
const payloadSchemaOf = (type: DetailType | RequestType): JsonSchema => {
  const { description = "" } = isRequestType(type) ? REQUEST_DETAIL[type] : EVENT_DATA[type];
  const schema = isRequestType(type) ? requestSchemaOf(type) : eventSchemaOf(type);
  return { title: type, description, ...titled(inlineSchemaOf(schema), type) };
};

/** JSON Schema of an event or a request, as a document of its own. */
export const jsonSchemaOf = (type: DetailType | RequestType): JsonSchema => ({
  $schema: DIALECT,
  $id: idOf(type),
  ...payloadSchemaOf(type),
});

/** JSON Schema of any event that Skyhook publishes, as a document of its own. */
export const anyEventSchema = (): JsonSchema => ({
  $schema: DIALECT,
  $id: idOf("any"),
  title: "SkyhookEvent",
  description: "An event that Skyhook publishes, as EventBridge delivers it.",
  type: "object",
  oneOf: DETAIL_TYPES.map((type) => ({ $ref: `#/$defs/${type}` })),
  $defs: Object.fromEntries(DETAIL_TYPES.map((type) => [type, payloadSchemaOf(type)])),
});
