/** What is counted. A name is never reused for another meaning. */
type MetricName =
  | "AccountKeyRefused"
  | "AccountKeyUnreadable"
  | "CommandNotAllowed"
  | "EventIgnored";

/** Counts what people are to be woken for, or want to see as a curve. */
export interface Metrics {
  /** @param dimensions few values each: every combination is a series of its own */
  count(name: MetricName, dimensions?: Readonly<Record<string, string>>): void;
}
