/** Pairs of neighbouring letters, without case. */
const pairsOf = (name: string): ReadonlySet<string> => {
  const letters = name.toLowerCase();
  return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
};

/** Sørensen–Dice coefficient of two names, from 0 to 1. It finds typing errors, and names by one of their words. */
const likeness = (a: string, b: string): number => {
  const [left, right] = [pairsOf(a), pairsOf(b)];
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return (2 * shared) / (left.size + right.size || 1);
};

const MIN_LIKENESS = 0.4;
const MAX_NAMES = 3;

/** The names that a mistyped one most likely means, the best first; empty if none is alike. */
export const nearestNames = (mistyped: string, names: readonly string[]): readonly string[] =>
  names
    .map((name) => ({ name, score: likeness(mistyped, name) }))
    .filter(({ score }) => score >= MIN_LIKENESS)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
