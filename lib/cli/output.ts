import type { Problem } from "../contract/problem.ts";
import type { Log, LogFields } from "../ports/log.ts";
import { EXIT } from "./exit-code.ts";
import { visibleText } from "./visible-text.ts";

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
