import type { Log, LogFields } from "../../lib/platform/ports/log.ts";

type Level = Exclude<keyof Log, "with">;

export interface LogLine {
  readonly level: Level;
  readonly message: string;
  /** Fields of the line, including the bound ones. */
  readonly fields: LogFields;
}

/** A log that keeps its lines. */
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

/** A log that drops its lines. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};
