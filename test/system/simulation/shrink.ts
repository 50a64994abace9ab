import type { Violation } from "./cloud/chronicle.ts";
import { strikeId } from "./engine/faults.ts";
import { type RunOptions, type RunReport, run } from "./run.ts";

/** Enough to shorten a history of hundreds to a handful, and over in a minute. */
const MAX_RUNS = 400;

/** What is left of a history: what was done in it, and the faults that struck. */
interface History {
  readonly parts: readonly string[];
  readonly strikes: readonly string[];
}

/** What is the same about a violation whoever it is of: another one must not take its place. */
const causeOf = ({ invariant, text }: Violation): string =>
  `${invariant} ${text
    .replaceAll(/\d{12}\/[\w:-]+/g, "…")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
    .replaceAll(/\d+/g, "…")}`;

/** Halves, then quarters, and so on: what can go together goes in few tries (delta debugging). */
function* slices(items: readonly string[]): Generator<ReadonlySet<string>> {
  for (let size = items.length; size > 1; ) {
    size = Math.ceil(size / 2);
    for (let from = 0; from < items.length; from += size) {
      yield new Set(items.slice(from, from + size));
    }
  }
  if (items.length === 1) yield new Set(items);
}

/**
 * Takes away whatever the violation does not need: what was done first, then faults, until nothing
 * more can go. What is left is the same run with less in it, for a fate depends on the name of a call
 * only.
 * @returns the report of the shortest run found that breaks the same for the same cause, which comes
 * first among its violations
 */
export const shrink = async (options: RunOptions, found: RunReport): Promise<RunReport> => {
  const [first] = found.violations;
  if (!first) return found;
  const cause = causeOf(first);
  let best = found;
  let runs = 0;
  const historyOf = ({ parts, struck }: RunReport): History => ({
    parts,
    strikes: struck.map(strikeId),
  });

  const breaksStill = async ({ parts, strikes }: History): Promise<boolean> => {
    runs += 1;
    const only = new Set(strikes);
    const report = await run({ ...options, only, parts: new Set(parts) });
    const same = report.violations.filter((violation) => causeOf(violation) === cause);
    if (same.length === 0) return false;
    best = { ...report, violations: [...new Set([...same, ...report.violations])] };
    return true;
  };

  const reduce = async (field: keyof History): Promise<boolean> => {
    let isShorter = false;
    for (const slice of slices(historyOf(best)[field])) {
      if (runs >= MAX_RUNS) return false;
      const now = historyOf(best);
      const kept = now[field].filter((item) => !slice.has(item));
      if (kept.length === now[field].length) continue;
      if (await breaksStill({ ...now, [field]: kept })) isShorter = true;
    }
    return isShorter;
  };

  while (((await reduce("parts")) || (await reduce("strikes"))) && runs < MAX_RUNS);
  return best;
};
