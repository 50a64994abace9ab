import type { Log } from "../../lib/platform/ports/log.ts";

/** For tests in which nothing that is logged matters. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};
