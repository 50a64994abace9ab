import type { PlacedProblem } from "../contract/problem.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";

export interface EventPath {
  /** The path as written, such as `$.detail.items[0]['odd key']`. */
  readonly text: string;
  /** Names of fields and indexes of lists, from the top of the event. */
  readonly steps: readonly (string | number)[];
}

export const PATH_RULE =
  "must be a path such as $.detail.items[0]['odd key']; a literal string begins with $$. instead of $.";

/** The fields of every EventBridge event. */
const EVENT_FIELDS: readonly (string | number)[] = [
  "account",
  "detail",
  "detail-type",
  "id",
  "region",
  "replay-name",
  "resources",
  "source",
  "time",
  "version",
];

export const EVENT_FIELD_RULE = `must begin with a field of an event: $.${EVENT_FIELDS.join(", $.")}`;

/** One step of a path at `lastIndex`: `.name`, `['quoted name']` or `[0]`. */
const STEP = /\.([^\s.[\]'"]+)|\['((?:[^'\\]|\\['\\])*)'\]|\[(0|[1-9]\d{0,8})\]/y;

/** Reads a path that begins with `$.`; returns the broken rule of an invalid one. */
export const readEventPath = (
  text: string,
): { readonly path: EventPath } | { readonly path?: undefined; readonly rule: string } => {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (!found) return { rule: PATH_RULE };
    const [, plain, quoted, index] = found;
    steps.push(plain ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? Number(index));
  }
  const [first = ""] = steps;
  return EVENT_FIELDS.includes(first) ? { path: { text, steps } } : { rule: EVENT_FIELD_RULE };
};

/** Reads one step: an index of a list or an own field of an object, never an inherited property. */
const partOf = (value: JsonValue, step: string | number): JsonValue | undefined => {
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  const field = Object.getOwnPropertyDescriptor(value, step);
  return typeof step === "string" ? field?.value : undefined;
};

/** Returns the value at the path; undefined if the event lacks it. */
export const valueAt = (event: JsonObject, { steps }: EventPath): JsonValue | undefined => {
  let value: JsonValue | undefined = event;
  for (const step of steps) {
    value = partOf(value, step);
    if (value === undefined) return undefined;
  }
  return value;
};

/** A value of a config file in which the event fills the mapped parts. */
export type Template =
  | { readonly kind: "constant"; readonly value: string | number | boolean | null }
  | { readonly kind: "mapped"; readonly path: EventPath }
  /** An invalid path, or a value that JSON does not have. */
  | { readonly kind: "broken"; readonly rule: string }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "object"; readonly fields: readonly (readonly [string, Template])[] };

type Path = readonly PropertyKey[];

/** A template with a `T` in place of each mapped part. */
export type Filled<T> =
  | JsonValue
  | T
  | readonly Filled<T>[]
  | { readonly [name: string]: Filled<T> };

/** Limit of nested levels; far more than any request of the contract has. */
const MAX_LEVELS = 32;

const readText = (text: string): Template => {
  if (text.startsWith("$$.")) return { kind: "constant", value: text.slice(1) };
  if (!text.startsWith("$.")) return { kind: "constant", value: text };
  const read = readEventPath(text);
  return read.path ? { kind: "mapped", path: read.path } : { kind: "broken", rule: read.rule };
};

const readObject = (value: object, levels: number): Template =>
  Array.isArray(value)
    ? { kind: "list", items: value.map((item: unknown) => readTemplate(item, levels)) }
    : {
        kind: "object",
        fields: Object.entries(value).map(([name, inner]) => [name, readTemplate(inner, levels)]),
      };

/**
 * Reads a value of a config file. A string that begins with `$.` is a path into the event; `$$.` stands for
 * a literal `$.`. Integers that JSON cannot hold exactly become decimal strings.
 */
export const readTemplate = (value: unknown, levels = MAX_LEVELS): Template => {
  switch (typeof value) {
    case "string":
      return readText(value);
    case "bigint":
      return { kind: "constant", value: String(value) };
    case "boolean":
      return { kind: "constant", value };
    case "number":
      return Number.isFinite(value)
        ? { kind: "constant", value }
        : { kind: "broken", rule: "must be a finite number" };
    case "object":
      if (value === null) return { kind: "constant", value };
      return levels === 0
        ? { kind: "broken", rule: `nested deeper than ${MAX_LEVELS} levels` }
        : readObject(value, levels - 1);
    default:
      return { kind: "broken", rule: "must be a JSON value" };
  }
};

/** Returns all leaves of a template with their paths in the request. */
export const leavesOf = (
  template: Template,
  path: Path = [],
): readonly { readonly leaf: Template; readonly path: Path }[] => {
  switch (template.kind) {
    case "list":
      return template.items.flatMap((item, index) => leavesOf(item, [...path, index]));
    case "object":
      return template.fields.flatMap(([name, field]) => leavesOf(field, [...path, name]));
    default:
      return [{ leaf: template, path }];
  }
};

/** Reports invalid paths and values that JSON does not have. */
export const templateProblems = (
  template: Template | undefined,
  path: Path,
): readonly PlacedProblem[] =>
  (template ? leavesOf(template, path) : []).flatMap(({ leaf, path }) =>
    leaf.kind === "broken" ? [{ path, rule: leaf.rule }] : [],
  );

/** Fills a template. `fill` returns the values of mapped and broken parts. */
export const fillTemplate = <T>(
  template: Template,
  fill: (source: EventPath | undefined, path: Path) => T,
  path: Path = [],
): Filled<T> => {
  switch (template.kind) {
    case "constant":
      return template.value;
    case "mapped":
      return fill(template.path, path);
    case "broken":
      return fill(undefined, path);
    case "list":
      return template.items.map((item, index) => fillTemplate(item, fill, [...path, index]));
    case "object":
      return Object.fromEntries(
        template.fields.map(([name, field]) => [name, fillTemplate(field, fill, [...path, name])]),
      );
    default:
      return template satisfies never;
  }
};
