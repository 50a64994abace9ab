import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../ports/log.ts";
import { EXIT } from "./exit-code.ts";

/** Results go to stdout, everything else to stderr, so that pipes see results only. */
export const printResult = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Resolves when the line has left this process, so that a kill cannot take it back. */
export const printLine = (text: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${text}\n`, () => resolve());
  });

export const printNote = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Ends the program when nobody reads any more what it prints, as after `| head`. */
export const endWithoutReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.failed);
  });
};

export const problemLines = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ path, rule }) => `  ${path === "" ? rule : `${path}: ${rule}`}`);

const fieldText = (fields: LogFields): string =>
  Object.entries(fields)
    .filter(([name, value]) => value !== undefined && name !== "stack")
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join("; ") : value}`)
    .join(" ");

const line =
  (level: string) =>
  (message: string, fields: LogFields = {}): void =>
    printNote(`${level}: ${message} ${fieldText(fields)}`.trimEnd());

const silent = (): void => {};

/** A log for a person at a terminal: what needs attention, on stderr. */
export const terminalLog: Log = {
  debug: silent,
  info: silent,
  warn: line("warning"),
  error: line("error"),
  // Whose a line is, is for whoever searches thousands of them.
  with: () => terminalLog,
};
