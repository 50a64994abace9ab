import * as z from "zod";
import { lazy } from "../contract/lazy.ts";
import { TIME_SPAN, TIME_SPAN_RULE, timeSpanMs } from "../contract/time-span.ts";

/** An http or https URL without credentials, query or fragment. */
export const baseUrl = lazy(() =>
  z
    .url({
      protocol: /^https?$/,
      error: ({ input }) => (input === undefined ? "required" : "must be an http or https URL"),
    })
    .refine(
      (value) => {
        if (!URL.canParse(value)) return true;
        const { username, password, search, hash } = new URL(value);
        return username === "" && password === "" && search === "" && hash === "";
      },
      { error: "must be a URL without user, password, query or fragment" },
    ),
);

/** A time span such as `90s`, `30m`, `2h` or `7d`; reads as milliseconds. */
export const duration = lazy(() =>
  z
    .string()
    .regex(TIME_SPAN, { error: `must be ${TIME_SPAN_RULE}` })
    .transform(timeSpanMs),
);

/** The name of a config entry, which becomes part of ids and of AWS resource names. */
export const entryName = lazy(() =>
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    error:
      "must be 1 to 64 letters, digits, dots, underscores or hyphens, and begin with a letter or digit",
  }),
);
