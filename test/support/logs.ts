import type { Log, LogFields } from "../../lib/platform/ports/log.ts";

type Level = Exclude<keyof Log, "with">;

export interface LogLine {
  readonly level: Level;
  readonly message: string;
  /** With the bound fields of the log. */
  readonly fields: LogFields;
}

/** Keeps every line, for tests of the log. */
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

/** Drops every line. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};
