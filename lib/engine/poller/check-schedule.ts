import type { Random } from "../../platform/ports/random.ts";

/** The shortest pause between two looks at one task. */
const FLOOR_MS = 2_000;
/** As often as the poller's schedule: no look is missed by a run that ends. */
export const MAX_PAUSE_MS = 60_000;
/** Looking after each further fifth of its age finds an end late by a fifth of the whole at most. */
const PART_OF_AGE = 0.2;
/** Spreads the looks of tasks that began together: the pause is up to a quarter shorter. */
const JITTER = 0.25;

/** When to look again at a task of this age: fast at first, slower with age, never too slow. */
export const pauseBeforeLook = (ageMs: number, random: Random): number => {
  const pause = Math.min(MAX_PAUSE_MS, Math.max(FLOOR_MS, ageMs * PART_OF_AGE));
  return Math.round(pause * (1 - JITTER * random.fraction()));
};
