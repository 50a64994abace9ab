import type { Mutation } from "../contract/operation.ts";
import { MUTATIONS } from "../contract/operations.ts";

/** A reply as JSON can hold it and a person may see it. */
export type Plain = string | number | boolean | null | Plain[] | { [name: string]: Plain };

const MUTATING: readonly Mutation[] = MUTATIONS;

/** What a command must not show of its request, a reply must not show either. */
const SECRET_NAMES = new Set(
  MUTATING.flatMap(({ secrets = [] }) => secrets.map((field) => field.replace(/^\w+\./, ""))),
);

const entriesOf = (record: object): readonly (readonly [string, unknown])[] =>
  Object.entries(record);

/** Keeps what is not there, and the names of whatever is. */
const redacted = (value: unknown): Plain => {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object" || Array.isArray(value)) return "[redacted]";
  return Object.fromEntries(entriesOf(value).map(([name, inner]) => [name, redacted(inner)]));
};

/**
 * Makes a provider's reply fit to be shown: integers beyond what JSON readers keep exact become
 * decimal strings, and the values of secrets `[redacted]`, wherever they stand.
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
      // JSON has nothing else.
      return null;
  }
};
