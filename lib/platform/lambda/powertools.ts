import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics as EmfMetrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Log, LogFields } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { InvocationLog } from "./invocation.ts";

/** Lines with bound fields. Work in one invocation is concurrent, so the logger cannot keep the fields. */
const linesOf = (logger: Logger, bound: LogFields): Log => ({
  debug: (message, fields) => logger.debug(message, { ...bound, ...fields }),
  info: (message, fields) => logger.info(message, { ...bound, ...fields }),
  warn: (message, fields) => logger.warn(message, { ...bound, ...fields }),
  error: (message, fields) => logger.error(message, { ...bound, ...fields }),
  with: (fields) => linesOf(logger, { ...bound, ...fields }),
});

/** Structured JSON lines; the level is `POWERTOOLS_LOG_LEVEL`. */
export const createInvocationLog = (): InvocationLog => {
  const logger = new Logger({ serviceName: "skyhook" });
  return { ...linesOf(logger, {}), bind: (context) => logger.addContext(context) };
};

/**
 * Metrics in CloudWatch's embedded metric format. Each call writes its log line at once, so that a
 * crashed invocation loses no metric.
 * @param serviceName service and stage, e.g. `skyhook-prod`: the dimension `service` of every metric
 */
export const createEmfMetrics = (serviceName: string): Metrics => {
  const metrics = new EmfMetrics({ namespace: "skyhook", serviceName });
  return {
    count(name, dimensions = {}) {
      // `singleMetric` would make new metrics for each line, for five times the CPU time.
      for (const [dimension, value] of Object.entries(dimensions)) {
        metrics.addDimension(dimension, value);
      }
      metrics.addMetric(name, MetricUnit.Count, 1);
      // Forgets the dimensions.
      metrics.publishStoredMetrics();
    },
    measure({ name, value, unit }, counted = []) {
      metrics.addMetric(name, MetricUnit[unit], value);
      for (const count of counted) metrics.addMetric(count, MetricUnit.Count, 1);
      metrics.publishStoredMetrics();
    },
  };
};
