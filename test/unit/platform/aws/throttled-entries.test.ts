import { expect, test } from "vitest";
import { repeatThrottled } from "../../../../lib/platform/aws/throttled-entries.ts";
import type { BusEntry, PublishOutcome } from "../../../../lib/platform/ports/bus.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const entry = (deduplicationId: string): BusEntry => ({
  ...{ detailType: "TagChanged", detail: {}, time: 0, groupId: "group" },
  deduplicationId,
});
const failed = (code: string): PublishOutcome => ({ kind: "failed", code, message: "no" });
const published: PublishOutcome = { kind: "published" };

/** Publishes three entries to a bus with these answers, one list for each call. */
const publishTo = async (answers: readonly (readonly PublishOutcome[])[]) => {
  const clock = createVirtualClock();
  const began = clock.now();
  const calls: { readonly at: number; readonly ids: readonly string[] }[] = [];
  const bus = repeatThrottled(
    {
      async publish(entries) {
        const ids = entries.map(({ deduplicationId }) => deduplicationId);
        calls.push({ at: clock.now() - began, ids });
        return answers[calls.length - 1] ?? [];
      },
    },
    { clock, random: { ...createSeededRandom(), fraction: () => 0.9 } },
  );
  const publishing = bus.publish(["a", "b", "c"].map(entry));
  await clock.advance(10_000);
  return { outcomes: await publishing, calls };
};

test("publishes throttled entries again after at most one, two and four seconds", async () => {
  const throttled = failed("ThrottlingException");
  const { outcomes, calls } = await publishTo([
    [published, throttled, throttled],
    [throttled, published],
    [throttled],
    [published],
  ]);

  expect(calls).toEqual([
    { at: 0, ids: ["a", "b", "c"] },
    { at: 900, ids: ["b", "c"] },
    { at: 2_700, ids: ["b"] },
    { at: 6_300, ids: ["b"] },
  ]);
  expect(outcomes).toEqual([published, published, published]);
});

test("gives up after four attempts, and leaves other failures to its caller", async () => {
  const throttled = failed("ThrottlingException");
  const { outcomes, calls } = await publishTo([
    [failed("InternalFailure"), published, throttled],
    [throttled],
    [throttled],
    [throttled],
  ]);

  expect(calls.map(({ ids }) => ids)).toEqual([["a", "b", "c"], ["c"], ["c"], ["c"]]);
  expect(outcomes).toEqual([failed("InternalFailure"), published, throttled]);
});
