import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { ConfigProblem } from "../config/config-file.ts";
import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";

/** Characters that control a terminal, break a line or write from right to left. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const byNumber = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/** An untrusted text in one line; control and right-to-left characters are shown as `\u` escapes. */
export const visibleText = (text: string): string => text.replaceAll(STEERING, byNumber);

/** JSON in one line, safe for a terminal: characters that JSON leaves unescaped are escaped too. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(STEERING, (character) =>
    character.split("").map(byNumber).join(""),
  );

/** A text as one quoted shell word, because an id can hold any character. */
export const shellWord = (text: string): string =>
  visibleText(/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export type Row = readonly string[];

/** A table of untrusted texts. Columns are as wide as their widest cell; lines have no trailing spaces. */
export const tableText = (heads: Row, rows: readonly Row[]): string => {
  const all = [heads, ...rows.map((row) => row.map(visibleText))];
  const widths = heads.map((_, column) =>
    Math.max(...all.map((row) => stringWidth(row[column] ?? ""))),
  );
  const lineOf = (row: Row): string =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join("  ")
      .trimEnd();
  return all.map(lineOf).join("\n");
};

/** JSON and YAML, where a line break can change the meaning. */
const DATA = /^\s*[[{#]/;
/** Lines to copy into a shell. */
const SHELL = /^\s*(npx |export )/;

/** Indent of continuation lines: the last column of the line, or two columns more than its start. */
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
  // Continuation lines are wrapped to the width that remains beside their indent.
  const [first = "", ...rest] = wrapAnsi(line, columns, { trim: false }).split("\n");
  if (rest.length === 0) return line;
  const behind = wrapAnsi(rest.join("").trimStart(), columns - hang).split("\n");
  return [first.trimEnd(), ...behind.map((each) => " ".repeat(hang) + each)].join("\n");
};

/**
 * Wraps the lines of a text between words, except data and shell commands.
 * @param columns width of the terminal; undefined without a terminal, 0 for an unknown width
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

/** Prints a result on stdout. Everything else goes to stderr, so that pipes get only results. */
export const printResult = (text: string): void => {
  process.stdout.write(`${forStream(text, process.stdout)}\n`);
};

/** Prints a line and resolves when it has left the process, so that a kill cannot lose it. */
export const printLine = (text: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${forStream(text, process.stdout)}\n`, () => resolve());
  });

export const printNote = (text: string): void => {
  process.stderr.write(`${forStream(text, process.stderr)}\n`);
};

export const problemLines = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ path, rule }) => visibleText(`  ${path === "" ? rule : `${path}: ${rule}`}`));

const fieldText = (fields: LogFields): string =>
  Object.entries(fields)
    .filter(([name, value]) => value !== undefined && name !== "stack")
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join("; ") : value}`)
    .join(" ");

const silent = (): void => {};

/** @param commandId the command of the lines; undefined: unknown */
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
    // The other fields serve searches in a log, and are noise at a terminal.
    with: (fields) => terminalLogOf(fields.commandId ?? commandId),
  };
};

/** A log for the terminal: warnings and errors on stderr, a line each, with the command id of their context. */
export const terminalLog: Log = terminalLogOf(undefined);

/** Problems of a config in the format of compilers: `file:line: path: problem`. */
export const fileProblemText = (file: string, problems: readonly ConfigProblem[]): string =>
  problems
    .map(({ path, rule, line }) => [line ? `${file}:${line}` : file, path, rule])
    .map((parts) => parts.filter(Boolean).map(visibleText).join(": "))
    .join("\n");
