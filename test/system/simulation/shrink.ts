import type { Violation } from "./cloud/chronicle.ts";
import { strikeId } from "./engine/faults.ts";
import { type RunOptions, type RunReport, run } from "./run.ts";

/**
 * Number of workload steps that all runs together may take, because a run costs about as much as its workload. Enough
 * to reduce hundreds of entries to a handful within a minute, and a crowd within a few minutes.
 */
const MAX_STEPS = 6_000;

/** The workload and the faults that a run keeps. */
interface History {
  readonly parts: readonly string[];
  readonly strikes: readonly string[];
}

/**
 * The violation without ids and numbers. A shorter history must not replace it by another violation.
 */
const causeOf = ({ invariant, text }: Violation): string =>
  `${invariant} ${text
    .replaceAll(/\d{12}\/[\w:-]+/g, "…")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
    .replaceAll(/\d+/g, "…")}`;

/** Yields halves, then quarters, and so on: large parts are removed in few runs (delta debugging). */
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
 * Removes everything that the violation does not need: first workload, then faults, until no removal
 * is possible. A fault decision depends on the name of its call only, so the rest of the run stays as
 * it was.
 * @returns the report of the shortest run found with the same violation, which is the first in its
 * list
 */
export const shrink = async (options: RunOptions, found: RunReport): Promise<RunReport> => {
  const [first] = found.violations;
  if (!first) return found;
  const cause = causeOf(first);
  let best = found;
  let steps = 0;
  const historyOf = ({ parts, struck }: RunReport): History => ({
    parts,
    strikes: struck.map(strikeId),
  });

  const breaksStill = async ({ parts, strikes }: History): Promise<boolean> => {
    steps += 1 + parts.length;
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
      if (steps >= MAX_STEPS) return false;
      const now = historyOf(best);
      const kept = now[field].filter((item) => !slice.has(item));
      if (kept.length === now[field].length) continue;
      if (await breaksStill({ ...now, [field]: kept })) isShorter = true;
    }
    return isShorter;
  };

  while (((await reduce("parts")) || (await reduce("strikes"))) && steps < MAX_STEPS);
  return best;
};
