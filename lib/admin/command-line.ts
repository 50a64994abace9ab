import type { FormField, OperationForm } from "./forms.ts";

/**
 * The `skyhook send` line of a filled form. The console shows it while the user types, so this file imports no code.
 * The command line takes the names of its options from here.
 */

/** The option of a top-level field, without its hyphens. */
export const flagOf = (name: string): string => name.replaceAll("_", "-");

const PLACES = ["params", "query", "body"] as const;

type Place = (typeof PLACES)[number];
type Values = Readonly<Record<string, unknown>>;

/** The data of a request as typed: unchecked. `deadline`: a time, or a time span such as `30m`. */
export interface FilledForm extends Readonly<Partial<Record<Place, Values>>> {
  readonly commandId?: string | undefined;
  readonly account?: string | undefined;
  readonly deadline?: string | undefined;
  readonly after?: readonly string[] | undefined;
  readonly guards?: readonly unknown[] | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface CommandLine {
  /** The program with its operation, then each option with its value, quoted for a POSIX shell. */
  readonly parts: readonly string[];
  /**
   * Content of the file that `--data` names, when a field is secret: other users of a machine see command lines.
   * Its values are what the user typed.
   */
  readonly file?: Values;
}

/** Name of the file with secrets in the line. */
export const DATA_FILE = "request.json";

/** Characters that control a terminal, break a line, write from right to left, or are half a character. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** JSON without characters that steer a terminal. */
const visibleJson = (value: unknown): string => JSON.stringify(value).replaceAll(STEERING, escaped);

/** A text as one word of a POSIX shell, whatever it contains. */
const quoted = (text: string): string =>
  /^[\w./:,@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A value that begins with a hyphen is joined to its option, so that it cannot be read as one. */
const option = (flag: string, value: string): string =>
  value.startsWith("-") ? `--${flag}=${quoted(value)}` : `--${flag} ${quoted(value)}`;

const MAX_UINT64 = 2n ** 64n - 1n;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether the command line reads the text of an option as this same text: where a field takes no text, it tries JSON. */
const staysText = (field: FormField, text: string): boolean => {
  if (field.control === "uint64" && /^\d+$/.test(text) && BigInt(text) <= MAX_UINT64) return true;
  return text.search(STEERING) < 0 && !isJson(text);
};

/** The text of a field's option; undefined when only JSON can express the value. */
const optionText = (field: FormField, value: unknown): string | undefined => {
  if (field.type === "json") return visibleJson(value);
  if (typeof value === "string") return staysText(field, value) ? value : undefined;
  return field.type === "text" ? undefined : visibleJson(value);
};

interface Sorted {
  readonly options: readonly string[];
  /** Values that no option can express, or that must not be in a command line. */
  readonly data: Values;
  readonly hasSecret: boolean;
}

const sortFields = (fields: readonly FormField[], values: Values = {}): Sorted => {
  const given = fields.filter(({ name }) => values[name] !== undefined);
  const split = given.map((field) => {
    const value = values[field.name];
    const text = field.secret ? undefined : optionText(field, value);
    return { field, value, text };
  });
  return {
    options: split.flatMap(({ field, text }) =>
      text === undefined ? [] : [option(flagOf(field.name), text)],
    ),
    data: Object.fromEntries(
      split.flatMap(({ field, value, text }) => (text === undefined ? [[field.name, value]] : [])),
    ),
    hasSecret: given.some(({ secret }) => secret),
  };
};

const commonOptions = (filled: FilledForm): readonly string[] => {
  const { commandId, account, deadline, after = [], guards, dryRun } = filled;
  return [
    ...(account === undefined ? [] : [option("account", account)]),
    ...(commandId === undefined ? [] : [option("id", commandId)]),
    ...(deadline === undefined ? [] : [option("deadline", deadline)]),
    ...after.map((id) => option("after", id)),
    ...(guards === undefined ? [] : [option("guards", visibleJson(guards))]),
    ...(dryRun ? ["--dry-run"] : []),
  ];
};

/**
 * The line that sends the same request as the filled form.
 * @param endpoint address of the run; absent: the address that the command line finds by itself
 */
export const commandLine = (
  form: OperationForm,
  filled: FilledForm,
  endpoint?: string,
): CommandLine => {
  const sorted = PLACES.map((place) => ({
    place,
    ...sortFields(form[place] ?? [], filled[place]),
  }));
  const data = Object.fromEntries(
    sorted.flatMap(({ place, data }) => (Object.keys(data).length > 0 ? [[place, data]] : [])),
  );
  const hasData = Object.keys(data).length > 0;
  const hasSecret = sorted.some((each) => each.hasSecret);
  return {
    parts: [
      `npx skyhook send ${form.id}`,
      ...sorted.flatMap(({ options }) => options),
      ...(hasData ? [option("data", hasSecret ? `@${DATA_FILE}` : visibleJson(data))] : []),
      ...commonOptions(filled),
      ...(endpoint === undefined ? [] : [option("endpoint", endpoint)]),
    ],
    ...(hasSecret && { file: data }),
  };
};
