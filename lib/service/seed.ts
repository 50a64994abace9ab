import { formatWireJson, parseWireJson, placeInJson } from "../contract/json.ts";
import { type Problem, problemsOf, problemsText } from "../contract/problem.ts";
import {
  COLLECTIONS,
  type CollectionName,
  keyOf,
  type RecordOf,
  type State,
  stateSchema,
} from "./state/state.ts";

/** An invalid seed. A problem identifies its record by list and index and never contains a value. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`invalid state: ${problemsText(problems)}`);
    this.problems = problems;
  }
}

/** Finds records with the identity of an earlier one. The service would silently keep only one of them. */
const repeatedIn = <C extends CollectionName>(collection: C, state: State): readonly Problem[] => {
  const records: readonly RecordOf<C>[] = state[collection];
  const firstOf = new Map<string, number>();
  return records.flatMap((record, index) => {
    const key = keyOf(collection, record);
    const first = firstOf.get(key);
    if (first === undefined) {
      firstOf.set(key, index);
      return [];
    }
    return [{ path: `${collection}.${index}`, rule: `duplicate of ${collection}.${first}` }];
  });
};

const parseJson = (text: string): unknown => {
  try {
    // Some editors add a byte order mark.
    return parseWireJson(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw new SeedError([{ path: "", rule: `must be valid JSON${placeInJson(error, text)}` }]);
  }
};

/**
 * Checks a state.
 * @throws SeedError with every problem
 */
export const checkSeed = (state: unknown): State => {
  const parsed = stateSchema.safeParse(state);
  if (!parsed.success) throw new SeedError(problemsOf(parsed.error.issues));
  const repeated = COLLECTIONS.flatMap((collection) => repeatedIn(collection, parsed.data));
  if (repeated.length > 0) throw new SeedError(repeated);
  return parsed.data;
};

/**
 * Parses a state from JSON text in the format of `formatSeed`.
 * @throws SeedError with every problem
 */
export const readSeed = (text: string): State => checkSeed(parseJson(text));

/** Formats a state as indented JSON, with the limits of storage events as exact numbers. */
export const formatSeed = (state: State): string => {
  const storage_events = state.storage_events.map(({ bytes, count, ...event }) => ({
    ...event,
    ...(bytes !== undefined && { bytes: BigInt(bytes) }),
    ...(count !== undefined && { count: BigInt(count) }),
  }));
  const lists = { ...state, storage_events };
  return formatWireJson(Object.fromEntries(COLLECTIONS.map((name) => [name, lists[name]])), 2);
};
