/** What is counted. A name is never reused for another meaning. */
export type CountName =
  | "AccountKeyRefused"
  | "AccountKeyUnreadable"
  | "CommandEnded"
  | "CommandNotAllowed"
  | "EventIgnored"
  | "PollerRan"
  | "TaskPastDeadline"
  | "ThresholdsRejected"
  | "UnknownOutcome";

/** What is measured, always in one unit. */
export type Measurement =
  | { readonly name: "CommandDuration"; readonly value: number; readonly unit: "Milliseconds" }
  | { readonly name: "LedgerLag"; readonly value: number; readonly unit: "Seconds" };

/** Counts and measures what people are to be woken for, or want to see as a curve. */
export interface Metrics {
  /** @param dimensions few values each: every combination is a series of its own */
  count(name: CountName, dimensions?: Readonly<Record<string, string>>): void;
  /** @param counted each counted once, told together with the value */
  measure(measurement: Measurement, counted?: readonly CountName[]): void;
}
