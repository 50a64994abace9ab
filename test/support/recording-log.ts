import type { Log, LogFields } from "../../lib/platform/ports/log.ts";

type Level = Exclude<keyof Log, "with">;

export interface LogLine {
  readonly level: Level;
  readonly message: string;
  /** Those of the work that it belongs to included. */
  readonly fields: LogFields;
}

/** Keeps every line, for tests in which the log is the contract. */
export const createRecordingLog = (): Log & { readonly lines: readonly LogLine[] } => {
  const lines: LogLine[] = [];
  const logOf = (bound: LogFields): Log => {
    const at =
      (level: Level) =>
      (message: string, fields: LogFields = {}): void => {
        lines.push({ level, message, fields: { ...bound, ...fields } });
      };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => logOf({ ...bound, ...fields }),
    };
  };
  return { lines, ...logOf({}) };
};
