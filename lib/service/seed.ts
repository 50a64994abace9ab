import { formatWireJson, parseWireJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import {
  COLLECTIONS,
  type CollectionName,
  keyOf,
  type RecordOf,
  type State,
  stateSchema,
} from "./state/state.ts";

/** A seed that is no valid state. The problems name records by list and index, never a value. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`the seed is not a state: ${problems.length} problems`);
    this.problems = problems;
  }
}

/** Of two records with one identity the service would silently keep one. */
const repeatedIn = <C extends CollectionName>(collection: C, state: State): readonly Problem[] => {
  const records: readonly RecordOf<C>[] = state[collection];
  const keys = records.map((record) => keyOf(collection, record));
  return keys.flatMap((key, index) =>
    keys.indexOf(key) < index
      ? [{ path: `${collection}.${index}`, rule: "has the identity of an earlier record" }]
      : [],
  );
};

const parseJson = (text: string): unknown => {
  try {
    // Some editors put a byte order mark in front.
    return parseWireJson(text.replace(/^\ufeff/, ""));
  } catch {
    throw new SeedError([{ path: "", rule: "must be readable JSON" }]);
  }
};

/**
 * Reads a state from JSON text, in the shape that `formatSeed` writes.
 * @throws SeedError naming every field that is wrong
 */
export const readSeed = (text: string): State => {
  const parsed = stateSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new SeedError(problemsOf(parsed.error.issues));
  const repeated = COLLECTIONS.flatMap((collection) => repeatedIn(collection, parsed.data));
  if (repeated.length > 0) throw new SeedError(repeated);
  return parsed.data;
};

/** The state as indented JSON, limits of storage events as exact numbers. */
export const formatSeed = (state: State): string => {
  const storage_events = state.storage_events.map(({ bytes, count, ...event }) => ({
    ...event,
    ...(bytes !== undefined && { bytes: BigInt(bytes) }),
    ...(count !== undefined && { count: BigInt(count) }),
  }));
  const lists = { ...state, storage_events };
  return formatWireJson(Object.fromEntries(COLLECTIONS.map((name) => [name, lists[name]])), 2);
};
