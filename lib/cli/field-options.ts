import { type Command, Option } from "commander";
import type { Operation } from "../contract/operation.ts";
import { type CommandInput, type FieldFlag, flagsOf, takesBody } from "./command-input.ts";
import type { FieldPlace } from "./operation-fields.ts";

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
