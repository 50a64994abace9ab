const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
};

/** A time span such as `90s`, `30m`, `2h` or `7d`. */
export const TIME_SPAN = /^[1-9]\d{0,5}[smhd]$/;

/** The rule of a time span, as an error states it. */
export const TIME_SPAN_RULE = "a time span such as 90s, 30m, 2h or 7d";

/** Milliseconds of a text that matches `TIME_SPAN`. */
export const timeSpanMs = (text: string): number =>
  Number(text.slice(0, -1)) * (UNIT_MS[text.slice(-1)] ?? 0);
