import type { Measurement, Metrics } from "../../lib/platform/ports/metrics.ts";

export interface RecordingMetrics extends Metrics {
  /** What was counted: name and values of dimensions. */
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
