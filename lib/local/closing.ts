import type { Log, LogFields } from "../platform/ports/log.ts";

/** A log without warnings and errors after the signal aborts, because work that breaks off then is expected. */
export const quietAfter = <L extends Log>(log: L, signal: AbortSignal): L => ({
  ...log,
  warn: (message: string, fields?: LogFields) => signal.aborted || log.warn(message, fields),
  error: (message: string, fields?: LogFields) => signal.aborted || log.error(message, fields),
  with: (fields: LogFields) => quietAfter(log.with(fields), signal),
});

/** Closes resources, the last opened first. A failed close does not stop the others. */
export interface Closing {
  add(close: () => Promise<void>): void;
  /** @throws the error of a failed close; AggregateError for several */
  close(): Promise<void>;
}

export const createClosing = (): Closing => {
  const closers: (() => Promise<void>)[] = [];
  return {
    add(close) {
      closers.unshift(close);
    },
    async close() {
      const errors: unknown[] = [];
      for (const close of closers.splice(0)) {
        await close().catch((error: unknown) => errors.push(error));
      }
      if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join("\n"));
      if (errors.length === 1) throw errors[0];
    },
  };
};
