import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import * as z from "zod";
import type { Operation } from "../contract/operation.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { type FieldPlace, fieldsOf, type OperationField } from "./operation-fields.ts";

/** A field that a flag can fill, and the name of the flag. */
export interface FieldFlag extends OperationField {
  readonly flag: string;
}

/** Top-level fields get a flag each; nested ones are given as JSON. */
export const flagsOf = (operation: Operation): readonly FieldFlag[] =>
  fieldsOf(operation)
    .filter(({ name }) => !/[.[]/.test(name))
    .map((field) => ({ ...field, flag: field.name.replaceAll("_", "-") }));

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
  const text = source.startsWith("@") ? readText(source, option) : source;
  try {
    return JSON.parse(text);
  } catch {
    throw new ExitError(
      EXIT.refused,
      `${option}: not readable as JSON, such as '["a"]' or '{"a":1}'`,
    );
  }
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

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Text where the field takes it as it stands, else what it says as JSON: numbers, lists, objects. */
const flagValue = (operation: Operation, field: FieldFlag, text: string): unknown => {
  if (field.type === "json") return readJson(text, `--${field.flag}`);
  return z.safeEncode(fieldSchema(operation, field), text).success ? text : jsonOrText(text);
};

export interface CommandInput {
  /** Whole data of the request, or its body, as JSON or `@file`. */
  readonly data?: string | undefined;
  readonly body?: string | undefined;
  readonly flags: ReadonlyMap<FieldFlag, string>;
}

const takesBody = (operation: Operation): boolean => operation.body instanceof z.ZodObject;

/** A request as it was typed; nothing of it is checked, and `--data` may have put more into it. */
export interface RequestData {
  readonly [name: string]: unknown;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Puts a request together; a flag wins over `--body`, and that over `--data`. */
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
  params: "Which one:",
  query: "Query:",
  body: "Fields of the body:",
};

const fieldOption = (field: FieldFlag): Option =>
  new Option(
    `--${field.flag} <${field.type}>`,
    `${field.required ? "required: " : ""}${field.rule}`,
  ).helpGroup(GROUPS[field.place]);

const hintOf = (operation: Operation, fields: readonly FieldFlag[]): string => {
  const hasJson = fields.some(({ type }) => type === "json");
  const hasSecrets = operation.kind === "mutation" && (operation.secrets ?? []).length > 0;
  return [
    "",
    ...(hasJson ? ["A <json> value may also be @file or @-."] : []),
    ...(hasSecrets ? ["Secrets are best given that way: a command line is seen by others."] : []),
    `All fields, nested ones too: npx skyhook operations ${operation.id}`,
  ].join("\n");
};

const addWholeOptions = (command: Command, operation: Operation): void => {
  command.optionsGroup("Several fields at once:");
  if (takesBody(operation)) {
    command.option("--body <json>", "body as JSON, or from a file: @file, @- for standard input");
  }
  command.option("--data <json>", "params, query and body in one object, as JSON, @file or @-");
};

/**
 * Adds a flag for every top-level field of the operation, and the options that give several at once.
 * @returns what was given, to be called when the command line is parsed
 */
export const addFieldOptions = (command: Command, operation: Operation): (() => CommandInput) => {
  const flags = flagsOf(operation);
  const fields = flags.map((field) => ({ field, option: fieldOption(field) }));
  for (const { option } of fields) command.addOption(option);
  if (fields.length > 0) addWholeOptions(command, operation);
  command.addHelpText("after", hintOf(operation, flags));
  return () => {
    const given = command.opts<Readonly<Record<string, string | undefined>>>();
    const texts = fields.flatMap(({ field, option }) => {
      const text = given[option.attributeName()];
      return text === undefined ? [] : [[field, text] as const];
    });
    return { data: given.data, body: given.body, flags: new Map(texts) };
  };
};
