import type { Environment } from "./environment.ts";

/** Eighths of a block, U+2581 to U+2588. */
const BLOCKS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
/** A row of equal values. */
const MIDDLE = "▄";
const MAX_COLUMNS = 60;

/** Terminals without the characters of a sparkline: of unknown abilities, and the console of Linux. */
const PLAIN_TERMINALS: ReadonlySet<string> = new Set(["dumb", "linux"]);

export const drawsBlocks = ({ TERM = "" }: Environment): boolean => !PLAIN_TERMINALS.has(TERM);

/** A value from an instant on, epoch ms. Undefined: unknown, a gap in the line. */
interface Step {
  readonly at: number;
  readonly value: number | undefined;
}

/** The values at equal distances in time, the first step and the end included. */
const samplesOf = (steps: readonly Step[], end: number, columns: number): Step["value"][] => {
  const start = steps[0]?.at ?? end;
  return Array.from({ length: columns }, (_, column) => {
    const at = start + (column * (end - start)) / (columns - 1);
    return steps.findLast((step) => step.at <= at)?.value;
  });
};

/**
 * A line of blocks for values over time, the lowest value as the lowest block.
 * @param steps in the order of time
 * @param end of the last step, epoch ms
 */
export const sparkline = (steps: readonly Step[], end: number, columns: number): string => {
  const known = steps.flatMap(({ value }) => value ?? []);
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  return samplesOf(steps, end, Math.min(columns, MAX_COLUMNS))
    .map((value) => {
      if (value === undefined) return " ";
      // Equal values have no range, hence no level.
      const level = Math.round(((value - low) / range) * (BLOCKS.length - 1));
      return BLOCKS[level] ?? MIDDLE;
    })
    .join("");
};
