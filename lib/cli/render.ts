import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { ConfigProblem } from "../config/config-file.ts";
import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";

/** What steers a terminal, breaks a line or writes from right to left. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const byNumber = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/**
 * A foreign text in one line. Characters that steer the terminal, or write from right to left, are shown
 * by their numbers.
 */
export const visibleText = (text: string): string => text.replaceAll(STEERING, byNumber);

/** JSON in one line for a terminal and a pipe alike: what JSON lets through of the same is escaped. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(STEERING, (character) =>
    character.split("").map(byNumber).join(""),
  );

/** A text as one word of a shell: a person may type it, and an id may hold anything. */
export const shellWord = (text: string): string =>
  visibleText(/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export type Row = readonly string[];

/** Cells are texts of anybody's. Columns as wide as their widest cell; none is padded at the end of a line. */
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

export const problemLines = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ path, rule }) => visibleText(`  ${path === "" ? rule : `${path}: ${rule}`}`));

const fieldText = (fields: LogFields): string =>
  Object.entries(fields)
    .filter(([name, value]) => value !== undefined && name !== "stack")
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join("; ") : value}`)
    .join(" ");

const silent = (): void => {};

/** @param commandId the command of the lines, where it is known */
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
    // The other fields help to search in thousands of lines.
    with: (fields) => terminalLogOf(fields.commandId ?? commandId),
  };
};

/**
 * A log for a person at a terminal: what needs attention, on stderr, one line each. Of the fields of
 * the work that a line belongs to it shows the command's id only.
 */
export const terminalLog: Log = terminalLogOf(undefined);

/** Problems of a config as compilers write them: file, line, what is wrong. */
export const fileProblemText = (file: string, problems: readonly ConfigProblem[]): string =>
  problems
    .map(({ path, rule, line }) => [line ? `${file}:${line}` : file, path, rule])
    .map((parts) => parts.filter(Boolean).map(visibleText).join(": "))
    .join("\n");
