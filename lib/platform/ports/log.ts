/** Fields beside a constant message; the same names everywhere. */
export interface LogFields {
  readonly [field: string]: string | number | boolean | undefined | readonly string[];
}

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log for one piece of work: each of its lines has these fields too. */
  with(fields: LogFields): Log;
}
