import { type Command, Help, type Option } from "commander";
import { RUNS_FOLDER } from "./endpoint.ts";
import { ENVIRONMENT } from "./environment.ts";
import { EXIT_STATUSES } from "./exit-code.ts";
import { createProgram } from "./program.ts";
import { examplesOf } from "./verb.ts";

const help = new Help();

/** Escapes what Markdown would read as HTML or as the end of a cell; code spans keep their `<`. */
const escaped = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll(/`[^`]*`|</g, (part) => (part === "<" ? "\\<" : part));

const tableOf = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => "---"), ...rows.map((row) => row.map(escaped))]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

const code = (text: string): string => `\`${text}\``;

const textOf = (option: Option): string => `${option.flags}: ${help.optionDescription(option)}`;

/** Options that every subcommand has with the same text. */
const sharedOptions = ({ commands: [first, ...others] }: Command): readonly Option[] =>
  others.length === 0
    ? []
    : (first?.options ?? []).filter((option) =>
        others.every((other) => other.options.map(textOf).includes(textOf(option))),
      );

/** A table for each group of options. */
const optionTables = (options: readonly Option[]): readonly string[] => {
  const groups = [...new Set(options.map(({ helpGroupHeading }) => helpGroupHeading))];
  return groups.flatMap((group) => [
    ...(group === undefined ? [] : [group]),
    tableOf(
      ["Option", "Description"],
      options
        .filter(({ helpGroupHeading }) => helpGroupHeading === group)
        .map((option) => [code(option.flags), help.optionDescription(option)]),
    ),
  ]);
};

const argumentTable = (command: Command): readonly string[] => {
  const rows = help
    .visibleArguments(command)
    .map((argument) => [code(help.argumentTerm(argument)), help.argumentDescription(argument)]);
  return rows.length === 0 ? [] : [tableOf(["Argument", "Description"], rows)];
};

const anchorOf = (command: Command): string => `#${nameOf(command).replaceAll(" ", "-")}`;

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

const commandTable = ({ commands }: Command): string =>
  tableOf(
    ["Command", "Purpose"],
    commands.map((command) => [
      `[${code(nameOf(command))}](${anchorOf(command)})`,
      help.subcommandDescription(command),
    ]),
  );

const fenced = (info: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`\`\`\`${info}\n${lines.join("\n")}\n\`\`\``];

/** A command with its subcommands. @param inherited options that the section above describes */
const sectionsOf = (
  command: Command,
  level: number,
  inherited: readonly Option[] = [],
): readonly string[] => {
  const shared = sharedOptions(command);
  const known = inherited.map(textOf);
  const options = command.options.filter((option) => !known.includes(textOf(option)));
  return [
    `${"#".repeat(level)} ${nameOf(command)}`,
    ...fenced("text", [help.commandUsage(command)]),
    escaped(help.commandDescription(command)),
    ...argumentTable(command),
    ...optionTables(options),
    ...fenced("sh", examplesOf(command)),
    ...(command.commands.length === 0 ? [] : [commandTable(command)]),
    ...(shared.length === 0 ? [] : ["Options of every subcommand:", ...optionTables(shared)]),
    ...command.commands.flatMap((each) => sectionsOf(each, level + 1, shared)),
  ];
};

const INTRO = `Every command of \`skyhook\` with its arguments and options, its exit statuses and environment variables.
This page is generated from the program's own help: \`npx skyhook COMMAND --help\` prints the same.`;

const ADDRESS = `\`start\` listens on port 4747 of 127.0.0.1, or on the next free port. It keeps its address in
\`${RUNS_FOLDER}\`, a file of the user, until it ends.

The other commands look for a Skyhook in this order:

1. \`--stage NAME\`: the stage on AWS.
2. \`--endpoint URL\`; \`127.0.0.1:4748\` is enough.
3. \`SKYHOOK_ENDPOINT\`.
4. The file of the last run. A command sends nothing to the address of a run that has ended.`;

const exitTable = (): string =>
  tableOf(
    ["Status", "Meaning", "Cases"],
    EXIT_STATUSES.map(({ status, meaning, cases }) => [String(status), meaning, cases.join("; ")]),
  );

const environmentTable = (): string =>
  tableOf(
    ["Variable", "Use"],
    Object.entries(ENVIRONMENT).map(([name, use]) => [code(name), use]),
  );

/** Makes docs/reference/cli.md. */
export const cliReference = async (): Promise<string> => {
  const program = await createProgram(() => true);
  const sections = [
    "# Command line",
    INTRO,
    ...fenced("sh", examplesOf(program)),
    commandTable(program),
    "## Address of a running Skyhook",
    ADDRESS,
    "## Exit status",
    exitTable(),
    "## Environment variables",
    environmentTable(),
    ...program.commands.flatMap((command) => sectionsOf(command, 2)),
  ];
  return `${sections.join("\n\n")}\n`;
};
