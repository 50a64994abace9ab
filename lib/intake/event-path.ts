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
