import * as z from "zod";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
};

/** A time span as people write it: `90s`, `30m`, `2h`, `7d`. Read as milliseconds. */
export const duration = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/, { error: "a time span such as 90s, 30m, 2h or 7d" })
  .transform((text) => Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] ?? 0));
