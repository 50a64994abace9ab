import type { Log, LogFields } from "../../lib/ports/log.ts";

export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps every line, for tests in which the log is the contract. */
export const createRecordingLog = (): Log & { readonly lines: readonly LogLine[] } => {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
};
