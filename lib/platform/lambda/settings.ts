import * as z from "zod";
import { type Problem, problemsOf } from "../../contract/problem.ts";

/** Settings are missing or invalid. The message names each once, with its rule and without its value. */
export class SettingsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`wrong settings: ${problems.map(({ path, rule }) => `${path} (${rule})`).join(", ")}`);
    this.name = "SettingsError";
    this.problems = problems;
  }
}

/** A list is an option that was given several times. */
type Given = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads settings.
 * @param crossFieldRules problems of several settings together, checked also when single settings are invalid
 * @throws SettingsError with every invalid setting
 */
export const readSettings = <S extends z.ZodType>(
  schema: S,
  given: Given,
  crossFieldRules: (given: Given) => readonly Problem[] = () => [],
): z.output<S> => {
  const parsed = z.safeParse(schema, given);
  const problems = [
    ...(parsed.success ? [] : problemsOf(parsed.error.issues)),
    ...crossFieldRules(given),
  ];
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new SettingsError(
    problems.filter(({ path }, at) => problems.findIndex((each) => each.path === path) === at),
  );
};

/**
 * Reads settings from environment variables; an empty variable counts as missing.
 * @throws SettingsError with every invalid setting
 */
export const readEnvironment = <S extends z.ZodType>(schema: S, environment: Given): z.output<S> =>
  readSettings(
    schema,
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== "")),
  );

/** A whole number of milliseconds or seconds in an environment variable. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, { error: "a whole number" })
    .transform(Number)
    .pipe(z.int().min(min).max(max));
