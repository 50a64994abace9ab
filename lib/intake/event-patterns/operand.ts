import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import type { LeafTest } from "./leaf.ts";
import type { TextTest } from "./text-tests.ts";

/** Tells of a problem, with its path from where the reader stands. */
export type Report = (path: readonly PropertyKey[], rule: string) => undefined;

interface SoleField {
  readonly name: string;
  readonly value: JsonValue;
}

/** The field of an object that has exactly one. */
export const soleField = (object: JsonObject): SoleField | undefined => {
  const [first, second] = Object.entries(object);
  return first && second === undefined ? { name: first[0], value: first[1] } : undefined;
};

/** A test that only texts can pass. */
export const onText =
  (test: TextTest): LeafTest =>
  (leaf) =>
    typeof leaf === "string" && test(leaf);
