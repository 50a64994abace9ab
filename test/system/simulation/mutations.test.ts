import { afterAll, expect, test } from "vitest";
import { mutatedSource, openMutatedBuilds } from "./bugs/mutated.ts";
import { MUTATIONS } from "./bugs/mutations.ts";
import noted from "./bugs/seeds.json" with { type: "json" };
import { seek } from "./bugs/seek.ts";

const SEEDS: Readonly<Record<string, number | null>> = noted;

const builds = await openMutatedBuilds();
afterAll(() => builds.close());

test("every planted bug has one name and one place", () => {
  for (const mutation of MUTATIONS) mutatedSource(mutation);

  expect(Object.keys(SEEDS)).toEqual(MUTATIONS.map(({ name }) => name));
});

/** Found by a crowd only, which takes as long as all others together. */
const LONG = "a process remembers tasks that another one has changed";

/** Every fifth bug. All of them would take minutes; `npm run test:bugs -- --noted` runs them. */
const SAMPLE = MUTATIONS.filter(
  ({ name }, index) => index % 5 === 4 && SEEDS[name] !== null && name !== LONG,
);

test.each(SAMPLE)("finds that $name", async (bug) => {
  const simulation = await builds.build(bug);

  const found = await seek({ simulation, invariant: bug.invariant, seeds: [SEEDS[bug.name] ?? 0] });

  expect(found).toBeDefined();
});
