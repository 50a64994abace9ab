import { Logger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import type { Log, LogFields } from "../ports/log.ts";

/** A log whose lines carry the invocation that wrote them. */
export interface InvocationLog extends Log {
  bind(context: Context): void;
}

/** Work goes on side by side in one invocation, so its fields are kept here, not in the logger. */
const linesOf = (logger: Logger, bound: LogFields): Log => ({
  debug: (message, fields) => logger.debug(message, { ...bound, ...fields }),
  info: (message, fields) => logger.info(message, { ...bound, ...fields }),
  warn: (message, fields) => logger.warn(message, { ...bound, ...fields }),
  error: (message, fields) => logger.error(message, { ...bound, ...fields }),
  with: (fields) => linesOf(logger, { ...bound, ...fields }),
});

/** Structured JSON lines by Powertools; the level is `POWERTOOLS_LOG_LEVEL`. */
export const createInvocationLog = (): InvocationLog => {
  const logger = new Logger({ serviceName: "skyhook" });
  return { ...linesOf(logger, {}), bind: (context) => logger.addContext(context) };
};
