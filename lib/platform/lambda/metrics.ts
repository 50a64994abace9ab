import { Metrics as EmfMetrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Metrics } from "../ports/metrics.ts";

/**
 * Metrics in CloudWatch's embedded metric format: each call is one line of the log at once, so that
 * an invocation that dies loses none.
 * @param serviceName dimension `service`: what one deployment is told from another by
 */
export const createEmfMetrics = (serviceName: string): Metrics => {
  const metrics = new EmfMetrics({ namespace: "skyhook", serviceName });
  return {
    count(name, dimensions = {}) {
      const single = metrics.singleMetric();
      // Before the metric, which is written as soon as it is added.
      for (const [dimension, value] of Object.entries(dimensions)) {
        single.addDimension(dimension, value);
      }
      single.addMetric(name, MetricUnit.Count, 1);
    },
    measure({ name, value, unit }, counted = []) {
      metrics.addMetric(name, MetricUnit[unit], value);
      for (const count of counted) metrics.addMetric(count, MetricUnit.Count, 1);
      metrics.publishStoredMetrics();
    },
  };
};
