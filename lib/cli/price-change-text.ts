import type * as z from "zod";
import type { EVENT_DATA } from "../events/catalogue.ts";

type PriceChanged = z.output<typeof EVENT_DATA.PriceChanged>;
type Total = PriceChanged["before"];
type Unit = "per_month" | "per_hour";

const UNIT_TEXT = { per_month: "a month", per_hour: "an hour" } as const;

/** What both have, the month before the hour, as the percentage has it; else what one of them has. */
const unitOf = (before: Total, after: Total): Unit | undefined => {
  const units = ["per_month", "per_hour"] as const;
  return (
    units.find((unit) => before[unit] !== null && after[unit] !== null) ??
    units.find((unit) => before[unit] !== null || after[unit] !== null)
  );
};

const countText = (count: number): string =>
  count === 1 ? "1 category changed" : `${count} categories changed`;

/** From what to what a total went, each with its currency when they are two. */
const stepText = (before: Total, after: Total, unit: Unit): string => {
  const from = before[unit] ?? "?";
  const to = after[unit] ?? "?";
  const currency = after.currency ?? "?";
  const step =
    before.currency === after.currency
      ? `${from} → ${to} ${currency}`
      : `${from} ${before.currency ?? "?"} → ${to} ${currency}`;
  return `${step} ${UNIT_TEXT[unit]}`;
};

/** What an event of a changed price says in one line: `48.20 → 51.08 EUR a month (+5.97 %)`. */
export const priceChangeText = (changed: PriceChanged): string => {
  const { before, after, percent, categoryCount } = changed;
  const unit = unitOf(before, after);
  if (before.currency === after.currency) {
    if (!unit) return `no total: ${countText(categoryCount)}`;
    if (before[unit] === after[unit]) {
      const total = `${after[unit]} ${after.currency ?? "?"} ${UNIT_TEXT[unit]}`;
      return `total unchanged, ${total}: ${countText(categoryCount)}`;
    }
  }
  const share = percent === null ? "" : ` (${percent.startsWith("-") ? "" : "+"}${percent} %)`;
  return stepText(before, after, unit ?? "per_month") + share;
};
