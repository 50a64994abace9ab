import type { Random } from "../platform/ports/random.ts";

const FIRST_MS = 1_000;
const CAP_MS = 60_000;

const withJitter = (pauseMs: number, random: Random): number =>
  Math.round(pauseMs * (1 - random.fraction() / 2));

/** Doubles from 1 s to 60 s; jitter takes off up to half, so that many do not come back at once. */
export const backoffMs = (attempt: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, FIRST_MS * 2 ** (attempt - 1)), random);

/** Where no attempts are made that could be counted: a tenth of the time waited, 1 s to 60 s. */
export const pauseAfterWaitMs = (waitedMs: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, Math.max(FIRST_MS, waitedMs / 10)), random);
