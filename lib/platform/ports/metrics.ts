/**
 * What is counted. A name is never reused for another meaning.
 *
 * `TaskPastDeadline`: a command that its deadline ended while a task of it was followed. The provider
 * was still at work on it, or had come to an end that Skyhook could not read or publish.
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
 * What is measured, always in one unit.
 *
 * `LedgerLag`: how late the longest due entry was when a run of the poller began, 0 when none
 * was. A task that is followed stays due, and is late only once its end is known and not published.
 */
export type Measurement =
  | { readonly name: "CommandDuration"; readonly value: number; readonly unit: "Milliseconds" }
  | { readonly name: "LedgerLag"; readonly value: number; readonly unit: "Seconds" };

/** Counts and measures what people are to be woken for, or want to see as a curve. */
export interface Metrics {
  /** @param dimensions few values each: every combination is a series of its own */
  count(name: CountName, dimensions?: Readonly<Record<string, string>>): void;
  /** @param counted each counted once, in the same line as the value */
  measure(measurement: Measurement, counted?: readonly CountName[]): void;
}
