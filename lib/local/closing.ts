import type { Log, LogFields } from "../platform/ports/log.ts";

/** A log that says nothing any more when the signal has aborted: what breaks off at the end is no news. */
export const quietAfter = <L extends Log>(log: L, signal: AbortSignal): L => ({
  ...log,
  warn: (message: string, fields?: LogFields) => signal.aborted || log.warn(message, fields),
  error: (message: string, fields?: LogFields) => signal.aborted || log.error(message, fields),
  with: (fields: LogFields) => quietAfter(log.with(fields), signal),
});

/** Closes what was opened, the last first; what cannot be closed keeps nothing else open. */
export interface Closing {
  add(close: () => Promise<void>): void;
  /** @throws the error of what could not be closed; AggregateError when there are several */
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
