import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";

/** Settings that are missing or wrong; the message names every one and no value. */
export class SettingsError extends Error {
  constructor(problems: readonly { readonly path: string; readonly rule: string }[]) {
    super(`wrong settings: ${problems.map(({ path, rule }) => `${path} (${rule})`).join(", ")}`);
    this.name = "SettingsError";
  }
}

/**
 * Reads settings from an environment. An empty variable counts as missing.
 * @throws SettingsError naming every bad setting, never its value
 */
export const readSettings = <S extends z.ZodType>(
  schema: S,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<S> => {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = z.safeParse(schema, given);
  if (parsed.success) return parsed.data;
  throw new SettingsError(problemsOf(parsed.error.issues));
};

/** A whole number of milliseconds or seconds as an environment variable holds it. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, { error: "a whole number" })
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** An http or https URL without credentials, query or fragment. */
export const baseUrl = z.url({ protocol: /^https?$/, error: "an http or https URL" }).refine(
  (value) => {
    const { username, password, search, hash } = new URL(value);
    return username === "" && password === "" && search === "" && hash === "";
  },
  { error: "a URL without user, password, query or fragment" },
);
