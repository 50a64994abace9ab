import type { Problem } from "../contract/problem.ts";

/** These keep every event far below the bus's limit, whatever a sender or the provider writes. */
const MAX_LISTED = 100;
const MAX_LISTED_BYTES = 100_000;
const MAX_TEXT_CHARACTERS = 500;

/** As much of a text as belongs into an event or a record; never half a character. */
export const clipped = (text: string, maxCharacters = MAX_TEXT_CHARACTERS): string =>
  text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).replace(/\p{Surrogate}$/u, "")}…`
    : text;

/** The first entries, as many as an event has room for: at most 100 and about 100 kB. */
export const listed = <T>(entries: readonly T[]): T[] => {
  const room: T[] = [];
  let bytes = 0;
  for (const entry of entries.slice(0, MAX_LISTED)) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > MAX_LISTED_BYTES) break;
    room.push(entry);
  }
  return room;
};

/** The first problems, as many and as much of each as an event has room for. */
export const listedProblems = (problems: readonly Problem[]) =>
  listed(problems.map(({ path, rule }) => ({ path: clipped(path), rule: clipped(rule) })));
