import { expect, test } from "vitest";
import {
  createDeduplications,
  DEDUPLICATION_MS,
  type Deduplication,
} from "../../../lib/local/deduplication.ts";

const IDS = 1_000;

/** Ids of messages that were sent a millisecond apart, and the number of times that any was looked at. */
const createCounted = (count: number) => {
  let looks = 0;
  const ids = Array.from(
    { length: count },
    (_, index): Deduplication => ({
      kind: "deduplication",
      id: `id-${index}`,
      get expiresAt() {
        looks += 1;
        return index + DEDUPLICATION_MS;
      },
    }),
  );
  return { ids, looks: () => looks };
};

test("looks at no more ids for a message if it has many of the last five minutes", () => {
  const { ids, looks } = createCounted(IDS);
  const kept = createDeduplications([]);

  ids.forEach((each, sentAt) => {
    expect(kept.takeEnded(sentAt)).toEqual([]);
    expect(kept.has(each.id)).toBe(false);
    kept.add(each);
  });

  // The first to end, for each message, and both of a comparison when it is added.
  expect(looks()).toBeLessThanOrEqual(3 * IDS);
});

test("drops ids from the first that ends, and looks at none behind those that have ended", () => {
  const { ids, looks } = createCounted(IDS);
  const kept = createDeduplications(ids);
  const before = looks();

  const ended = kept.takeEnded(9 + DEDUPLICATION_MS);

  expect(ended.map(({ id }) => id)).toEqual(ids.slice(0, 10).map(({ id }) => id));
  expect(ids.filter(({ id }) => kept.has(id))).toHaveLength(IDS - 10);
  // A removal takes logarithmic time: ten levels, two comparisons each.
  expect(looks() - before).toBeLessThanOrEqual(10 * 2 * 2 * Math.log2(IDS));
});
