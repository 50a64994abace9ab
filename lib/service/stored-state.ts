import { parseWireJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { COLLECTIONS, type State, stateSchema } from "./state/state.ts";

/** The stored state is invalid. The message contains the first problem, never a value. */
export class StoredStateError extends Error {
  override readonly name = "StoredStateError";

  constructor([first, ...others]: readonly Problem[]) {
    const more = others.length > 0 ? `, and ${others.length} more` : "";
    super(`stored state is invalid: ${first?.path}: ${first?.rule}${more}`);
  }
}

const parseRecord = (key: string, text: string): unknown => {
  try {
    return parseWireJson(text);
  } catch {
    throw new StoredStateError([{ path: key, rule: "must be valid JSON" }]);
  }
};

/**
 * Parses all stored records.
 * @throws StoredStateError for any invalid record: refusing to start is safer than serving a partial state
 */
export const fromEntries = (entries: ReadonlyMap<string, string>): State => {
  const lists = new Map<string, unknown[]>(COLLECTIONS.map((collection) => [collection, []]));
  for (const [key, text] of entries) {
    const [collection = ""] = key.split("/");
    const list = lists.get(collection) ?? [];
    list.push(parseRecord(key, text));
    lists.set(collection, list);
  }
  const parsed = stateSchema.safeParse(Object.fromEntries(lists));
  if (!parsed.success) throw new StoredStateError(problemsOf(parsed.error.issues));
  return parsed.data;
};
