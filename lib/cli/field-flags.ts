import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import * as z from "zod";
import { flagOf } from "../admin/command-line.ts";
import { lazy } from "../contract/lazy.ts";
import type { Operation } from "../contract/operation.ts";
import {
  type FieldPlace,
  fieldsOf,
  type OperationField,
  PLACES,
} from "../contract/operation-fields.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { readJsonText } from "./json-input.ts";
import { wrapText } from "./layout.ts";
import { columnsOf } from "./render.ts";
import type { IsUsed } from "./verb.ts";

/** The option of a top-level field. */
export interface FieldFlag {
  readonly place: FieldPlace;
  readonly name: string;
  readonly flag: string;
  /** Type and rule, for the help, errors and values that may be JSON: deriving them takes longer than a whole call. */
  readonly field: () => OperationField;
}

/** The options of an operation: one for each top-level field; nested fields are given as JSON. */
export const flagsOf = (operation: Operation): readonly FieldFlag[] => {
  const fields = lazy(() => fieldsOf(operation));
  return PLACES.flatMap((place) => {
    const schema: z.ZodType = operation[place];
    const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    return names.map((name) => ({
      ...{ place, name, flag: flagOf(name) },
      field: () => fieldNamed(fields(), place, name),
    }));
  });
};

const fieldNamed = (
  fields: readonly OperationField[],
  place: FieldPlace,
  name: string,
): OperationField => {
  const found = fields.find((field) => field.place === place && field.name === name);
  if (!found) throw new Error(`no field ${place}.${name}`);
  return found;
};

const readText = (source: string, option: string): string => {
  const path = source.slice(1);
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch {
    const name = path === "-" ? "standard input" : path;
    throw new ExitError(EXIT.refused, `${option}: cannot read ${name}`);
  }
};

/** JSON text as given, or from a file (`@file`, `@-` for standard input). */
export const readJson = (source: string, option: string): unknown => {
  if (!source.startsWith("@")) {
    return readJsonText(source, option, `; write it as '["a"]' or '{"a":1}'`);
  }
  const file = source === "@-" ? "standard input" : source.slice(1);
  return readJsonText(readText(source, option), `${option}: ${file}`);
};

const objectSchema = z.record(z.string(), z.unknown());

const readObject = (source: string | undefined, option: string): Record<string, unknown> => {
  if (source === undefined) return {};
  const object = objectSchema.safeParse(readJson(source, option));
  if (object.success) return object.data;
  throw new ExitError(EXIT.refused, `${option}: must be a JSON object`);
};

const placeIn = (data: Record<string, unknown>, place: FieldPlace): Record<string, unknown> => {
  const object = objectSchema.optional().safeParse(data[place]);
  if (object.success) return object.data ?? {};
  throw new ExitError(EXIT.refused, `--data: ${place} must be a JSON object`);
};

const fieldSchema = (operation: Operation, { place, name }: FieldFlag): z.ZodType => {
  const schema = operation[place];
  const field = schema instanceof z.ZodObject ? schema.shape[name] : undefined;
  return field instanceof z.ZodType ? field : z.unknown();
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether a field is text only, so that its type need not be derived. */
const isTextOnly = (schema: z.ZodType): boolean => {
  if (!(schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)) {
    return schema.type === "string" || schema.type === "enum";
  }
  const inner = schema.unwrap();
  return inner instanceof z.ZodType && isTextOnly(inner);
};

/** The text itself if the field accepts it, else its value as JSON: numbers, lists, objects. */
const flagValue = (operation: Operation, flag: FieldFlag, text: string): unknown => {
  const schema = fieldSchema(operation, flag);
  const takesText = z.safeEncode(schema, text).success;
  if (takesText && isTextOnly(schema)) return text;
  if (!takesText && isJson(text)) return JSON.parse(text);
  return flag.field().type === "json" ? readJson(text, `--${flag.flag}`) : text;
};

export interface CommandInput {
  /** The whole data of the request, as JSON or `@file`; `body`: its body only. */
  readonly data?: string | undefined;
  readonly body?: string | undefined;
  readonly flags: ReadonlyMap<FieldFlag, string>;
}

const takesBody = (operation: Operation): boolean => operation.body instanceof z.ZodObject;

/** A request as the user typed it: unchecked, possibly with unknown fields from `--data`. */
export interface RequestData {
  readonly [name: string]: unknown;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Builds a request; an option overrides `--body`, and `--body` overrides `--data`. */
export const requestData = (operation: Operation, input: CommandInput): RequestData => {
  const data = readObject(input.data, "--data");
  const places: Record<FieldPlace, Record<string, unknown>> = {
    params: placeIn(data, "params"),
    query: placeIn(data, "query"),
    body: { ...placeIn(data, "body"), ...readObject(input.body, "--body") },
  };
  for (const [field, text] of input.flags) {
    places[field.place][field.name] = flagValue(operation, field, text);
  }
  const hasBody = takesBody(operation) || Object.keys(places.body).length > 0;
  const { params, query, body } = places;
  return { ...data, operation: operation.id, params, query, ...(hasBody && { body }) };
};

const GROUPS: Readonly<Record<FieldPlace, string>> = {
  params: "Path parameters:",
  query: "Query parameters:",
  body: "Body fields:",
};

const fieldOption = ({ flag, place, field }: FieldFlag): Option =>
  Object.defineProperties(new Option(`--${flag} <value>`).helpGroup(GROUPS[place]), {
    flags: { get: () => `--${flag} <${field().type}>` },
    description: { get: () => `${field().required ? "required: " : ""}${field().rule}` },
  });

const hintOf = (operation: Operation, flags: readonly FieldFlag[]): string => {
  const hasJson = flags.some(({ field }) => field().type === "json");
  const hasSecrets = operation.kind === "mutation" && (operation.secrets ?? []).length > 0;
  return [
    "",
    ...(hasJson ? ["A <json> value can also be @FILE, or @- for standard input."] : []),
    ...(hasSecrets ? ["Give secrets that way: other users of the machine see command lines."] : []),
    `Nested fields: npx skyhook operations ${operation.id}`,
  ].join("\n");
};

const addWholeOptions = (command: Command, operation: Operation): void => {
  command.optionsGroup("Several fields:");
  if (takesBody(operation)) {
    command.option("--body <json>", "body as JSON");
  }
  command.option("--data <json>", "object with params, query and body as JSON");
};

/** Adds the subcommand of an operation; one that is not used is only listed in the help. */
export const addOperation = (verb: Command, operation: Operation, isUsed: IsUsed): Command =>
  verb
    .command(isUsed(operation.id) ? operation.id : `${operation.id} [options]`)
    .description(`${operation.summary} (${operation.reference})`);

/**
 * Adds an option for every top-level field of the operation, and the options for several fields.
 * @returns a function for the typed values; call it after the command line is parsed
 */
export const addFieldOptions = (command: Command, operation: Operation): (() => CommandInput) => {
  const flags = flagsOf(operation);
  const fields = flags.map((flag) => ({ flag, option: fieldOption(flag) }));
  for (const { option } of fields) command.addOption(option);
  if (fields.length > 0) addWholeOptions(command, operation);
  command.addHelpText("after", () => wrapText(hintOf(operation, flags), columnsOf(process.stdout)));
  return () => {
    const given = command.opts<Readonly<Record<string, string | undefined>>>();
    const texts = fields.flatMap(({ flag, option }) => {
      const text = given[option.attributeName()];
      return text === undefined ? [] : [[flag, text] as const];
    });
    return { data: given.data, body: given.body, flags: new Map(texts) };
  };
};
