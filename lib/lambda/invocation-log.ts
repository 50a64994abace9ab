import { Logger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import type { Log } from "../ports/log.ts";

/** A log whose lines carry the invocation that wrote them. */
export interface InvocationLog extends Log {
  bind(context: Context): void;
}

/** Structured JSON lines by Powertools; the level is `POWERTOOLS_LOG_LEVEL`. */
export const createInvocationLog = (): InvocationLog => {
  const logger = new Logger({ serviceName: "skyhook" });
  return {
    bind: (context) => logger.addContext(context),
    debug: (message, fields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields = {}) => logger.error(message, { ...fields }),
  };
};
