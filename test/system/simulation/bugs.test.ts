import { expect, test } from "vitest";
import { BUGS } from "./bugs/bugs.ts";
import { run } from "./run.ts";

const MAX_SEEDS = 1_000;

/** The first seed with a run that violates the bug's invariant; undefined when none of them does. */
const firstFound = async ({ invariant, tamper }: (typeof BUGS)[number]) => {
  for (let seed = 1; seed <= MAX_SEEDS; seed++) {
    const { violations } = await run({ seed, tampering: tamper() });
    if (violations.some((violation) => violation.invariant === invariant)) return seed;
  }
  return undefined;
};

test.each(BUGS)("finds that $name (invariant $invariant)", { timeout: 300_000 }, async (bug) => {
  const seed = await firstFound(bug);

  expect(seed).toBeTypeOf("number");
});
