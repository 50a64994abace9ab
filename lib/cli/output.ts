import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";
import { EXIT } from "./exit-code.ts";
import { visibleText } from "./visible-text.ts";

/** JSON and YAML, in which a line break would change something. */
const DATA = /^\s*[[{#]/;
/** What people copy into a shell. */
const SHELL = /^\s*(npx |export )/;

/** Where the lines behind the first begin: under the last column, or two columns further in. */
const hangOf = (line: string, columns: number): number => {
  const plain = stripVTControlCharacters(line);
  const start = plain.search(/\S/);
  const gaps = [...plain.matchAll(/(?<=\S) {2,}(?=\S)/g)];
  const [gap] = gaps.slice(-1);
  const hang = gap === undefined ? 0 : stringWidth(plain.slice(0, gap.index)) + gap[0].length;
  return hang > start && hang <= columns / 2 ? hang : start + 2;
};

const wrapLine = (line: string, columns: number): string => {
  if (stringWidth(line) <= columns || SHELL.test(stripVTControlCharacters(line))) return line;
  const hang = hangOf(line, columns);
  // Wrapped narrower by the indent, which the lines behind the first get back.
  const [first = "", ...rest] = wrapAnsi(line, columns, { trim: false }).split("\n");
  if (rest.length === 0) return line;
  const behind = wrapAnsi(rest.join("").trimStart(), columns - hang).split("\n");
  return [first.trimEnd(), ...behind.map((each) => " ".repeat(hang) + each)].join("\n");
};

/**
 * Breaks the lines of a text between words. Data and shell commands stay as they are.
 * @param columns of the terminal; undefined where there is none, 0 where its size is not known
 */
export const wrapText = (text: string, columns: number | undefined): string =>
  !columns || DATA.test(text)
    ? text
    : text
        .split("\n")
        .map((line) => wrapLine(line, columns))
        .join("\n");

const forStream = (text: string, stream: NodeJS.WriteStream): string =>
  wrapText(text, stream.isTTY ? stream.columns : undefined);

/** Results go to stdout, everything else to stderr, so that pipes see results only. */
export const printResult = (text: string): void => {
  process.stdout.write(`${forStream(text, process.stdout)}\n`);
};

/** Resolves when the line has left this process, so that a kill cannot take it back. */
export const printLine = (text: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${forStream(text, process.stdout)}\n`, () => resolve());
  });

export const printNote = (text: string): void => {
  process.stderr.write(`${forStream(text, process.stderr)}\n`);
};

/** Ends the program when nobody reads any more what it prints, as after `| head`. */
export const endWithoutReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.failed);
  });
};

export const problemLines = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ path, rule }) => visibleText(`  ${path === "" ? rule : `${path}: ${rule}`}`));

const fieldText = (fields: LogFields): string =>
  Object.entries(fields)
    .filter(([name, value]) => value !== undefined && name !== "stack")
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join("; ") : value}`)
    .join(" ");

const silent = (): void => {};

/** @param commandId whose the lines are, where that is known */
const terminalLogOf = (commandId: LogFields[string]): Log => {
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      printNote(
        visibleText(`${level}: ${message} ${fieldText({ commandId, ...fields })}`.trimEnd()),
      );
  return {
    debug: silent,
    info: silent,
    warn: line("warning"),
    error: line("error"),
    // What else tells one line from another is for whoever searches thousands of them.
    with: (fields) => terminalLogOf(fields.commandId ?? commandId),
  };
};

/**
 * A log for a person at a terminal: what needs attention, on stderr, one line each. Of the fields of
 * the work that a line belongs to it shows the command's id only.
 */
export const terminalLog: Log = terminalLogOf(undefined);
