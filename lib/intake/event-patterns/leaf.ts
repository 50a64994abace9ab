import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";

/** A value of an event that conditions look at: whatever is neither an object nor a list. */
export type Leaf = string | number | boolean | null;
export type LeafTest = (leaf: Leaf) => boolean;

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  Array.isArray(value);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value);
