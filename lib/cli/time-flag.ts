import { epochMsOf, timestamp } from "../contract/values.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, ExitError } from "./exit-code.ts";

const UNITS_MS = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/**
 * The instant of a time option, in ISO 8601.
 * @param text an age such as `24h` or `7d`, a day, or an instant
 * @throws ExitError for any other text; the message names the option
 */
export const instantOf = (flag: string, text: string, clock: Clock): string => {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS.get(unit);
  if (unitMs !== undefined) {
    // A longer age than that of Unix time means all that there is.
    return new Date(Math.max(0, clock.now() - Number(count) * unitMs)).toISOString();
  }
  const full = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (timestamp().safeParse(full).success) return new Date(epochMsOf(full)).toISOString();
  throw new ExitError(
    EXIT.refused,
    `${flag}: must be an age such as 24h or 7d, a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z`,
  );
};
