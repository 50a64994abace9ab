import { strikeId } from "./engine/faults.ts";
import { type RunOptions, type RunReport, run } from "./run.ts";

/** Enough to shorten a history of hundreds to a handful, and over in a minute. */
const MAX_RUNS = 400;

/** What is left of a history: the inputs, and the faults that struck them. */
interface History {
  readonly inputs: readonly string[];
  readonly strikes: readonly string[];
}

/** Halves, then quarters, and so on: what can go together goes in few tries (delta debugging). */
async function* parts(items: readonly string[]): AsyncGenerator<ReadonlySet<string>> {
  for (
    let size = Math.ceil(items.length / 2);
    size >= 1;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let from = 0; from < items.length; from += size) {
      yield new Set(items.slice(from, from + size));
    }
    if (size === 0) return;
  }
}

/**
 * Takes away whatever the violation does not need: inputs first, then faults, until nothing more can
 * go. What is left is the same run with less in it, for a fate depends on the name of a call only.
 * @returns the report of the shortest run found that breaks the same invariant
 */
export const shrink = async (options: RunOptions, found: RunReport): Promise<RunReport> => {
  const invariant = found.violations[0]?.invariant;
  let best = found;
  let runs = 0;
  const historyOf = ({ inputs, struck }: RunReport): History => ({
    inputs: inputs.map(({ id }) => id),
    strikes: struck.map(strikeId),
  });

  const breaksStill = async ({ inputs, strikes }: History): Promise<boolean> => {
    runs += 1;
    const only = new Set(strikes);
    const report = await run({ ...options, only, inputs: new Set(inputs) });
    if (report.violations[0]?.invariant !== invariant) return false;
    best = report;
    return true;
  };

  const reduce = async (field: keyof History): Promise<boolean> => {
    let isShorter = false;
    for await (const part of parts(historyOf(best)[field])) {
      if (runs >= MAX_RUNS) return false;
      const now = historyOf(best);
      const kept = now[field].filter((item) => !part.has(item));
      if (kept.length === now[field].length) continue;
      if (await breaksStill({ ...now, [field]: kept })) isShorter = true;
    }
    return isShorter;
  };

  while (((await reduce("inputs")) || (await reduce("strikes"))) && runs < MAX_RUNS);
  return best;
};
