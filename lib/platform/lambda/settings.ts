import * as z from "zod";
import { type Problem, problemsOf } from "../../contract/problem.ts";

/** Settings that are missing or wrong; the message names every one once and no value. */
export class SettingsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`wrong settings: ${problems.map(({ path, rule }) => `${path} (${rule})`).join(", ")}`);
    this.name = "SettingsError";
    this.problems = problems;
  }
}

type Given = Readonly<Record<string, string | undefined>>;

/**
 * Reads settings as they are given.
 * @param between rules between settings; they are looked at even when a setting by itself is wrong
 * @throws SettingsError naming every bad setting once, never its value
 */
export const readSettings = <S extends z.ZodType>(
  schema: S,
  given: Given,
  between: (given: Given) => readonly Problem[] = () => [],
): z.output<S> => {
  const parsed = z.safeParse(schema, given);
  const problems = [...(parsed.success ? [] : problemsOf(parsed.error.issues)), ...between(given)];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new SettingsError(
    problems.filter(({ path }, at) => problems.findIndex((each) => each.path === path) === at),
  );
};

/**
 * Reads settings from an environment, in which an empty variable counts as missing.
 * @throws SettingsError naming every bad setting once, never its value
 */
export const readEnvironment = <S extends z.ZodType>(schema: S, environment: Given): z.output<S> =>
  readSettings(
    schema,
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== "")),
  );

/** A whole number of milliseconds or seconds as an environment variable holds it. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, { error: "a whole number" })
    .transform(Number)
    .pipe(z.int().min(min).max(max));
