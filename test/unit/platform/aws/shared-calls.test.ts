import { expect, test } from "vitest";
import { shareCalls } from "../../../../lib/platform/aws/shared-calls.ts";
import type { BusEntry, PublishOutcome } from "../../../../lib/platform/ports/bus.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const entry = (deduplicationId: string, text = ""): BusEntry => ({
  ...{ detailType: "TagChanged", detail: { text }, time: 0, groupId: "group" },
  deduplicationId,
});
const failed = (code: string): PublishOutcome => ({ kind: "failed", code, message: "no" });
const published: PublishOutcome = { kind: "published" };

/** A bus on which a call takes 5 ms, or as long as `durationOf` says. */
const openBus = (durationOf: (ids: readonly string[]) => number = () => 5) => {
  const clock = createVirtualClock();
  const began = clock.now();
  const calls: { readonly at: number; readonly ids: string }[] = [];
  const bus = shareCalls(
    {
      async publish(entries) {
        const ids = entries.map(({ deduplicationId }) => deduplicationId);
        calls.push({ at: clock.now() - began, ids: ids.join(" ") });
        await clock.sleep(durationOf(ids));
        return ids.map((id) => (id.startsWith("bad") ? failed(id) : published));
      },
    },
    clock,
  );
  const publish = (...ids: readonly string[]) => bus.publish(ids.map((id) => entry(id)));
  return { clock, bus, calls, publish };
};

test("sends a publication at once, and those that come before its answer together", async () => {
  const { clock, calls, publish } = openBus();
  const first = publish("a");
  await clock.advance(2);
  const others = [publish("b"), publish("bad-c", "d"), publish()];
  await clock.advance(100);

  expect(calls).toEqual([
    { at: 0, ids: "a" },
    { at: 5, ids: "b bad-c d" },
  ]);
  expect(await first).toEqual([published]);
  expect(await Promise.all(others)).toEqual([[published], [failed("bad-c"), published], []]);
});

test("sends the next publication at once after an answer", async () => {
  const { clock, calls, publish } = openBus();
  void publish("a");
  await clock.advance(50);
  void publish("b");
  await clock.advance(50);

  expect(calls).toEqual([
    { at: 0, ids: "a" },
    { at: 50, ids: "b" },
  ]);
});

test("sends a full call without waiting, and never splits a publication", async () => {
  const { clock, calls, publish } = openBus();
  const ids = Array.from({ length: 8 }, (_, index) => `n${index}`);
  void publish("a");
  void publish(...ids);
  void publish("b", "c", "d");
  await clock.advance(1);
  expect(calls).toEqual([
    { at: 0, ids: "a" },
    { at: 0, ids: ids.join(" ") },
  ]);

  const many = publish(...ids, ...ids);
  await clock.advance(100);

  expect(calls.slice(2)).toEqual([
    { at: 1, ids: "b c d" },
    { at: 1, ids: [...ids, ...ids].join(" ") },
  ]);
  expect(await many).toHaveLength(16);
});

test("sends a call that is full of large entries without waiting", async () => {
  const { clock, bus, calls, publish } = openBus();
  void publish("a");
  for (const id of ["b", "c", "d"]) void bus.publish([entry(id, "x".repeat(150_000))]);
  await clock.advance(100);

  expect(calls).toEqual([
    { at: 0, ids: "a" },
    { at: 0, ids: "b" },
    { at: 0, ids: "c" },
    { at: 5, ids: "d" },
  ]);
});

test("waits at most 10 ms for a call that hangs", async () => {
  const { clock, calls, publish } = openBus((ids) => (ids.includes("hangs") ? 12_000 : 5));
  void publish("hangs");
  const other = publish("b");
  await clock.advance(1_000);

  expect(calls).toEqual([
    { at: 0, ids: "hangs" },
    { at: 10, ids: "b" },
  ]);
  expect(await other).toEqual([published]);
});

test("each publication of a call gets its error", async () => {
  const clock = createVirtualClock();
  const bus = shareCalls(
    {
      publish: async () => {
        throw new Error("a defect of the bus");
      },
    },
    clock,
  );

  for (const _ of [1, 2]) {
    await expect(bus.publish([entry("a")])).rejects.toThrow("a defect of the bus");
  }
});
