/**
 * Counters. A name is never reused for another meaning.
 *
 * `TaskPastDeadline`: the deadline of a command passed while Skyhook followed one of its tasks. Either the
 * provider was still running the task, or Skyhook could not read or publish its end.
 */
export type CountName =
  | "AccountKeyRefused"
  | "AccountKeyUnreadable"
  | "CommandEnded"
  | "CommandNotAllowed"
  | "DueEntryLeft"
  | "EventIgnored"
  | "PollerRan"
  | "TaskPastDeadline"
  | "ThresholdsRejected"
  | "UnknownOutcome"
  | "WatchlistRejected";

/**
 * Measurements, each with one unit.
 *
 * `LedgerLag`: lateness of the oldest due entry at the start of a poller run, 0 without one. A followed task
 * stays due; it counts as late only when its end is known and not yet published.
 */
export type Measurement =
  | { readonly name: "CommandDuration"; readonly value: number; readonly unit: "Milliseconds" }
  | { readonly name: "LedgerLag"; readonly value: number; readonly unit: "Seconds" };

/** Counts and measures for alarms and dashboards. */
export interface Metrics {
  /** @param dimensions with few values each, because every combination is a time series of its own */
  count(name: CountName, dimensions?: Readonly<Record<string, string>>): void;
  /** @param counted counters to raise by one, in the same log line as the value */
  measure(measurement: Measurement, counted?: readonly CountName[]): void;
}
