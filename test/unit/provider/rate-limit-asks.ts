import { blockBudget, grantTokens, type newBudget } from "../../../lib/provider/rate-limit.ts";

export type Budget = ReturnType<typeof newBudget>;

export const START = Date.UTC(2026, 0, 1);
export const PER_WINDOW = 20;

export const ask = (
  budget: Budget,
  atMs: number,
  wanted: number,
  { hasNewKey = false, atLeast = 1, lostProbe = undefined as number | undefined } = {},
) =>
  grantTokens(budget, {
    now: START + atMs,
    wanted,
    atLeast,
    perWindow: PER_WINDOW,
    hasNewKey,
    lostProbe,
  });

/** A block that was noted at the start. */
export const block = (budget: Budget, untilMs: number) =>
  blockBudget(budget, { now: START, until: START + untilMs });
