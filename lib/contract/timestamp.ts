import * as z from "zod";

/**
 * An instant in ISO 8601. The document means UTC, and the provider's samples come with `Z` and without
 * any zone (published task records), so none stands for UTC.
 */
export const timestamp = z.iso
  .datetime({ offset: true, local: true, error: "a time such as 2026-01-31T12:00:00Z" })
  .meta({ format: "date-time" });

/** Epoch milliseconds of a `timestamp`; Date.parse alone reads one without a zone as local time. */
export const epochMsOf = (text: string): number =>
  Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
