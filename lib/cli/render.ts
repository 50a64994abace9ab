import type { ConfigProblem } from "../config/config-file.ts";
import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";
import type { Environment } from "./environment.ts";
import { type Columns, layOutTable, type Row, wrapText } from "./layout.ts";

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

/**
 * The heads and rows of a table of untrusted texts.
 * @param columns width of the terminal, less the indent that the caller adds
 */
export const tableRows = (
  heads: Row,
  rows: readonly Row[],
  columns: Columns,
): readonly string[] => {
  const visible = rows.map((row) => row.map(visibleText));
  return layOutTable(heads, visible, columns);
};

/** As `tableRows`, in one text. */
export const tableText = (heads: Row, rows: readonly Row[], columns: Columns): string =>
  tableRows(heads, rows, columns).join("\n");

/** Width of a terminal that does not report one. */
const USUAL_COLUMNS = 80;

/** Width of a stream's terminal; undefined for a file or a pipe. */
export const columnsOf = (
  stream: NodeJS.WriteStream,
  environment: Environment = process.env,
): Columns =>
  stream.isTTY ? stream.columns || Number(environment.COLUMNS) || USUAL_COLUMNS : undefined;

/** A text, or a function that lays it out for the width of the terminal. */
type Text = string | ((columns: Columns) => string);

const forStream = (text: Text, stream: NodeJS.WriteStream): string => {
  const columns = columnsOf(stream);
  return wrapText(typeof text === "string" ? text : text(columns), columns);
};

/** Prints a result on stdout. Everything else goes to stderr, so that pipes get only results. */
export const printResult = (text: Text): void => {
  process.stdout.write(`${forStream(text, process.stdout)}\n`);
};

/** Prints lines for a program on stdout, unchanged at a terminal too. */
export const printData = (text: string): void => {
  process.stdout.write(text);
};

/** Prints a line and resolves when it has left the process, so that a kill cannot lose it. */
export const printLine = (text: Text): Promise<void> =>
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
