import type { Random } from "../ports/random.ts";

const FIRST_MS = 1_000;
const CAP_MS = 60_000;

/** Doubles from 1 s to 60 s; jitter takes off up to half, so that many do not come back at once. */
export const backoffMs = (attempt: number, random: Random): number =>
  Math.round(Math.min(CAP_MS, FIRST_MS * 2 ** (attempt - 1)) * (1 - random.fraction() / 2));
