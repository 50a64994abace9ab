/** Fields of a line in addition to its constant message; a field has the same name everywhere. */
export interface LogFields {
  readonly [field: string]: string | number | boolean | undefined | readonly string[];
}

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to each line. */
  with(fields: LogFields): Log;
}
