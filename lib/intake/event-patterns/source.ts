import type { PlacedProblem } from "../../contract/problem.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";

/** The most that EventBridge takes; its quota is 2048 until an account asks for more. */
const MAX_CHARACTERS = 4096;

type Path = readonly PropertyKey[];
type SourceReading =
  | { readonly kind: "valid"; readonly source: JsonObject }
  | { readonly kind: "invalid"; readonly problem: PlacedProblem };

const SIZE_RULE = `at most ${MAX_CHARACTERS} characters`;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
};

const isJsonLeaf = (value: unknown): boolean =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

/** Each takes two characters at least, of which one may be a comma or a bracket. */
const MAX_VALUES = MAX_CHARACTERS / 2 + 1;

/** Goes no further than a pattern that is short enough could: what was given may be endless. */
const problemOf = (raw: unknown): PlacedProblem | undefined => {
  const open: { readonly value: unknown; readonly path: Path }[] = [{ value: raw, path: [] }];
  for (const { value, path } of open) {
    if (open.length > MAX_VALUES) return { path: [], rule: SIZE_RULE };
    if (typeof value === "object" && value !== null && isPlain(value)) {
      const names = Array.isArray(value) ? value.slice(0, MAX_VALUES).keys() : Object.keys(value);
      for (const name of names) {
        open.push({ value: Reflect.get(value, name), path: [...path, name] });
      }
    } else if (!isJsonLeaf(value)) return { path, rule: "plain JSON data" };
  }
  return JSON.stringify(raw).length > MAX_CHARACTERS ? { path: [], rule: SIZE_RULE } : undefined;
};

const isJsonObject = (raw: unknown): raw is JsonObject =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw);

/** Reads what may be a pattern as JSON of the size that EventBridge takes. */
export const readSource = (raw: unknown): SourceReading => {
  const problem = problemOf(raw);
  if (problem) return { kind: "invalid", problem };
  return isJsonObject(raw)
    ? { kind: "valid", source: raw }
    : { kind: "invalid", problem: { path: [], rule: "an object" } };
};
