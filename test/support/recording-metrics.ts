import type { Measurement, Metrics } from "../../lib/platform/ports/metrics.ts";

export interface RecordingMetrics extends Metrics {
  /** All counts: the name and the values of the dimensions. */
  readonly counted: readonly string[];
  readonly measured: readonly Measurement[];
}

export const createRecordingMetrics = (): RecordingMetrics => {
  const counted: string[] = [];
  const measured: Measurement[] = [];
  return {
    counted,
    measured,
    count(name, dimensions = {}) {
      counted.push([name, ...Object.values(dimensions)].join(" "));
    },
    measure(measurement, others = []) {
      measured.push(measurement);
      counted.push(...others);
    },
  };
};
