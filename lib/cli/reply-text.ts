import type { Mutation } from "../contract/operation.ts";
import { MUTATIONS } from "../contract/operations.ts";
import type { Columns } from "./layout.ts";
import { tableText, visibleText } from "./render.ts";

/** A reply as JSON, without secrets. */
export type Plain = string | number | boolean | null | Plain[] | { [name: string]: Plain };

const MUTATING: readonly Mutation[] = MUTATIONS;

/** Names of fields that are secret in requests, and therefore in replies too. */
const SECRET_NAMES = new Set(
  MUTATING.flatMap(({ secrets = [] }) => secrets.map((field) => field.replace(/^\w+\./, ""))),
);

const entriesOf = (record: object): readonly (readonly [string, unknown])[] =>
  Object.entries(record);

/** Redacts values; keeps null and the names of fields. */
const redacted = (value: unknown): Plain => {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object" || Array.isArray(value)) return "[redacted]";
  return Object.fromEntries(entriesOf(value).map(([name, inner]) => [name, redacted(inner)]));
};

/**
 * Prepares a provider's reply for output: integers that JSON readers would round become decimal strings, and the
 * values of secret fields become `[redacted]` at every level.
 */
export const plainReply = (value: unknown): Plain => {
  switch (typeof value) {
    case "bigint":
      return String(value);
    case "string":
    case "number":
    case "boolean":
      return value;
    case "object": {
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item: unknown) => plainReply(item));
      return Object.fromEntries(
        entriesOf(value).map(([name, inner]) => [
          name,
          SECRET_NAMES.has(name) ? redacted(inner) : plainReply(inner),
        ]),
      );
    }
    default:
      // JSON has no other types.
      return null;
  }
};

type PlainRecord = Readonly<Record<string, Plain>>;

/** A longer list of values gets a line for each. */
const MAX_INLINE_CHARACTERS = 80;

const isRecord = (value: Plain): value is { [name: string]: Plain } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of a scalar; undefined for a value with parts. */
const scalarText = (value: Plain): string | undefined => {
  if (value === null) return "-";
  if (value === "") return '""';
  if (typeof value !== "object") return visibleText(String(value));
  return Object.keys(value).length === 0 ? "none" : undefined;
};

/** The text of a value for one line or table cell; undefined if it does not fit. */
const inlineText = (value: Plain): string | undefined => {
  if (!Array.isArray(value) || value.length === 0) return scalarText(value);
  const texts = value.map(scalarText);
  const joined = texts.join(", ");
  const fits = texts.every((text) => text !== undefined) && joined.length <= MAX_INLINE_CHARACTERS;
  return fits ? joined : undefined;
};

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

const recordLines = (record: PlainRecord, columns: Columns): readonly string[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const text = inlineText(value);
    return text === undefined
      ? [`${visibleText(name)}:`, ...indented(linesOf(value, columns && columns - 2))]
      : [`${visibleText(name)}: ${text}`];
  });

const isFlat = (value: Plain): value is { [name: string]: Plain } =>
  isRecord(value) && Object.values(value).every((field) => inlineText(field) !== undefined);

/** A column for each name in any record; a record without the field has an empty cell. */
const tableLines = (records: readonly PlainRecord[], columns: Columns): readonly string[] => {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const cellOf = (record: PlainRecord, name: string): string =>
    Object.hasOwn(record, name) ? (inlineText(record[name] ?? null) ?? "") : "";
  const rows = records.map((record) => names.map((name) => cellOf(record, name)));
  return tableText(names.map(visibleText), rows, columns).split("\n");
};

const bulleted = (item: Plain, columns: Columns): readonly string[] =>
  linesOf(item, columns && columns - 2).map((line, at) => (at === 0 ? `- ${line}` : `  ${line}`));

const listLines = (items: Plain[], columns: Columns): readonly string[] =>
  items.length > 0 && items.every(isFlat)
    ? tableLines(items, columns)
    : items.flatMap((item) => bulleted(item, columns));

const linesOf = (value: Plain, columns: Columns): readonly string[] => {
  const text = scalarText(value);
  if (text !== undefined) return [text];
  if (Array.isArray(value)) return listLines(value, columns);
  return isRecord(value) ? recordLines(value, columns) : [];
};

/**
 * A reply in lines: `name: value`, a table for a list of flat records, indented lines for deeper values. `-` means
 * null, `none` an empty list or object.
 */
export const replyText = (reply: Plain, columns?: Columns): string =>
  linesOf(reply, columns).join("\n");
