import type { PlacedProblem } from "../contract/problem.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";

/** Where something is in an event. */
export interface EventPath {
  /** As it was written, such as `$.detail.items[0]['odd key']`. */
  readonly text: string;
  /** Names of fields and indexes of lists, from the event inwards. */
  readonly steps: readonly (string | number)[];
}

export const PATH_RULE =
  "a path such as $.detail.items[0]['odd key'], or a text that begins with $$. for $.";

/** What EventBridge puts around the detail of every event. */
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

export const EVENT_FIELD_RULE = `an event has only $.${EVENT_FIELDS.join(", $.")}`;

const PLAIN = /\.([^\s.[\]'"]+)/y;
const QUOTED = /\['((?:[^'\\]|\\['\\])*)'\]/y;
const INDEX = /\[(0|[1-9]\d{0,8})\]/y;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/** The step that begins at a place of the text, and its length there. */
const stepAt = (
  text: string,
  at: number,
): { readonly step: string | number; readonly length: number } | undefined => {
  const plain = matchAt(PLAIN, text, at);
  if (plain) return { step: plain[1] ?? "", length: plain[0].length };
  const quoted = matchAt(QUOTED, text, at);
  if (quoted) {
    return { step: (quoted[1] ?? "").replaceAll(/\\(.)/g, "$1"), length: quoted[0].length };
  }
  const index = matchAt(INDEX, text, at);
  return index ? { step: Number(index[1]), length: index[0].length } : undefined;
};

/** Reads a path that begins with `$.`; answers the rule that it breaks where it is none. */
export const readEventPath = (
  text: string,
): { readonly path: EventPath } | { readonly path?: never; readonly rule: string } => {
  const steps: (string | number)[] = [];
  for (let at = 1; at < text.length; ) {
    const found = stepAt(text, at);
    if (!found) return { rule: PATH_RULE };
    steps.push(found.step);
    at += found.length;
  }
  const [first = ""] = steps;
  return EVENT_FIELDS.includes(first) ? { path: { text, steps } } : { rule: EVENT_FIELD_RULE };
};

/** Only what is written in the data: a list has indexes and no names, an object its own fields. */
const partOf = (value: JsonValue, step: string | number): JsonValue | undefined => {
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  const field = Object.getOwnPropertyDescriptor(value, step);
  return typeof step === "string" ? field?.value : undefined;
};

/** The value at the path, or undefined where the event has none. */
export const valueAt = (event: JsonObject, { steps }: EventPath): JsonValue | undefined => {
  let value: JsonValue | undefined = event;
  for (const step of steps) {
    value = partOf(value, step);
    if (value === undefined) return undefined;
  }
  return value;
};

/** A value in which parts are still to be taken from an event. */
export type Template =
  | { readonly kind: "constant"; readonly value: string | number | boolean | null }
  | { readonly kind: "mapped"; readonly path: EventPath }
  /** Written like a path, and none. */
  | { readonly kind: "broken"; readonly rule: string }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "object"; readonly fields: readonly (readonly [string, Template])[] };

type Place = readonly PropertyKey[];

/** What a template becomes when each of its mapped parts is a `T`. */
export type Filled<T> =
  | JsonValue
  | T
  | readonly Filled<T>[]
  | { readonly [name: string]: Filled<T> };

/** Far more than any request of the contract has. */
const MAX_LEVELS = 32;

const PATH_BEGINS = "$.";
/** Stands for a text that itself begins like a path. */
const ESCAPED = "$$.";

const readText = (text: string): Template => {
  if (text.startsWith(ESCAPED)) return { kind: "constant", value: text.slice(1) };
  if (!text.startsWith(PATH_BEGINS)) return { kind: "constant", value: text };
  const { path, ...read } = readEventPath(text);
  return path
    ? { kind: "mapped", path }
    : { kind: "broken", rule: "rule" in read ? read.rule : "" };
};

const readObject = (value: object, levels: number): Template =>
  Array.isArray(value)
    ? { kind: "list", items: value.map((item: unknown) => readTemplate(item, levels)) }
    : {
        kind: "object",
        fields: Object.entries(value).map(([name, inner]) => [name, readTemplate(inner, levels)]),
      };

/**
 * Reads a value as a config file has it. A text that begins with `$.` is where in the event the
 * value is; numbers that JSON cannot hold exactly become decimal text.
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
        : { kind: "broken", rule: "a number that JSON has" };
    case "object":
      if (value === null) return { kind: "constant", value };
      return levels === 0
        ? { kind: "broken", rule: `nested deeper than ${MAX_LEVELS} levels` }
        : readObject(value, levels - 1);
    default:
      return { kind: "broken", rule: "a value that JSON has" };
  }
};

/** Every part of a template that has no parts itself, with its place. */
export const leavesOf = (
  template: Template,
  place: Place = [],
): readonly { readonly leaf: Template; readonly place: Place }[] => {
  switch (template.kind) {
    case "list":
      return template.items.flatMap((item, index) => leavesOf(item, [...place, index]));
    case "object":
      return template.fields.flatMap(([name, field]) => leavesOf(field, [...place, name]));
    default:
      return [{ leaf: template, place }];
  }
};

/** What is wrong with a template by itself: paths that cannot be read, values that JSON has not. */
export const templateProblems = (
  template: Template | undefined,
  place: Place,
): readonly PlacedProblem[] =>
  (template ? leavesOf(template, place) : []).flatMap(({ leaf, place: path }) =>
    leaf.kind === "broken" ? [{ path, rule: leaf.rule }] : [],
  );

/** The value of a template; parts that are no constants are asked for, by their place in it. */
export const fillTemplate = <T>(
  template: Template,
  fill: (path: EventPath | undefined, place: Place) => T,
  place: Place = [],
): Filled<T> => {
  switch (template.kind) {
    case "constant":
      return template.value;
    case "mapped":
      return fill(template.path, place);
    case "broken":
      return fill(undefined, place);
    case "list":
      return template.items.map((item, index) => fillTemplate(item, fill, [...place, index]));
    case "object":
      return Object.fromEntries(
        template.fields.map(([name, field]) => [name, fillTemplate(field, fill, [...place, name])]),
      );
    default:
      return template satisfies never;
  }
};
