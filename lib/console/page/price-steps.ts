import type { ReadingView } from "../../jobs/prices/memory.ts";

/** The amounts of a total that a chart can draw. */
export type PriceUnit = "per_hour" | "per_month";

/** A price over time as steps: each value lasts until the next one. */
export interface PriceSteps {
  /** Currency of all values; null: the provider names none. */
  readonly currency: string | null;
  /** Instants, s since 1970, ascending without repetition. */
  readonly x: readonly number[];
  /** Rounded for drawing; null where no price is shown. */
  readonly y: readonly (number | null)[];
  /** The exact amount of each value. */
  readonly amounts: readonly (string | null)[];
  /** Instants of `x` at which the shown price changes. */
  readonly changes: readonly number[];
}

/** Smallest distance of two instants, s: a clock that was set back must not turn the line around. */
const STEP = 0.001;

/**
 * Turns readings into the steps of a chart. Hidden prices, and those in another currency than the newest shown one,
 * are gaps.
 * @param readings the newest first
 */
export const stepsOf = (readings: readonly ReadingView[], unit: PriceUnit): PriceSteps => {
  const shown = readings.filter(({ status, total }) => status === "show" && total[unit] !== null);
  const currency = shown[0]?.total.currency ?? null;
  const points: { readonly x: number; readonly amount: string | null }[] = [];
  const add = (at: string, amount: string | null): void => {
    const after = (points.at(-1)?.x ?? Number.NEGATIVE_INFINITY) + STEP;
    points.push({ x: Math.max(Date.parse(at) / 1000, after), amount });
  };
  const changes: number[] = [];
  let previous: string | null = null;
  for (const reading of readings.toReversed()) {
    const amount =
      shown.includes(reading) && reading.total.currency === currency ? reading.total[unit] : null;
    add(reading.readAt, amount);
    const at = points.at(-1)?.x;
    if (previous !== null && amount !== null && amount !== previous && at !== undefined) {
      changes.push(at);
    }
    previous = amount ?? previous;
  }
  const [latest] = readings;
  const last = points.at(-1);
  if (latest && last && Date.parse(latest.lastSeenAt) / 1000 > last.x) {
    add(latest.lastSeenAt, last.amount);
  }
  return {
    currency,
    x: points.map(({ x }) => x),
    y: points.map(({ amount }) => (amount === null ? null : Number(amount))),
    amounts: points.map(({ amount }) => amount),
    changes,
  };
};

/** Units in which at least one reading shows an amount, the month first. */
export const unitsOf = (readings: readonly ReadingView[]): readonly PriceUnit[] =>
  (["per_month", "per_hour"] as const).filter((unit) =>
    readings.some(({ status, total }) => status === "show" && total[unit] !== null),
  );
