import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { BusEntry, EventBus } from "../../../lib/platform/ports/bus.ts";

/** An event as a subscriber of any bus receives it. */
export interface ArrivedEvent {
  readonly source: string;
  readonly detailType: string;
  readonly detail: unknown;
}

export interface BusHarness {
  /** Publishes with source `skyhook`. */
  readonly bus: EventBus;
  /** All events that have arrived, in any order. */
  arrived(): Promise<readonly ArrivedEvent[]>;
  /** Makes all further publishing fail. @returns the name of the reason */
  breakDown(): Promise<RegExp>;
  remove(): Promise<void>;
}

const entry = (text: string): BusEntry => ({
  detailType: "TaskFinished",
  detail: { text },
  time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  groupId: "task",
  deduplicationId: text.slice(0, 20),
});

const event = (text: string): ArrivedEvent => ({
  source: "skyhook",
  detailType: "TaskFinished",
  detail: { text },
});

const inOneOrder = (events: readonly ArrivedEvent[]): readonly ArrivedEvent[] =>
  events.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

// An entry has 44 bytes besides its text: 14 (time), 7 (source), 12 (detail type), 11 ({"text":""}).
const LARGEST_TEXT = "x".repeat(262_144 - 44);

/**
 * The contract of publishing, for one bus. `create` returns a bus without events. It
 * does not cover the order of arrival, because EventBridge guarantees none.
 */
export const describeBusContract = (name: string, create: () => Promise<BusHarness>): void => {
  describe(`an event bus (${name})`, () => {
    let harness: BusHarness;
    beforeEach(async () => {
      harness = await create();
      const { remove } = harness;
      onTestFinished(remove);
    });

    const expectArrived = async (...events: readonly ArrivedEvent[]): Promise<void> => {
      await expect
        .poll(async () => inOneOrder(await harness.arrived()))
        .toEqual(inOneOrder(events));
    };

    test("publishes nothing for an empty list", async () => {
      expect(await harness.bus.publish([])).toEqual([]);

      expect(await harness.arrived()).toEqual([]);
    });

    test("publishes any number of entries, with one outcome each", async () => {
      const texts = Array.from({ length: 23 }, (_, index) => `entry ${index}`);

      const outcomes = await harness.bus.publish(texts.map(entry));

      expect(outcomes).toEqual(texts.map(() => ({ kind: "published" })));
      await expectArrived(...texts.map(event));
    });

    test("publishes an entry twice when it is given twice", async () => {
      const twice = entry("twice");

      expect(await harness.bus.publish([twice, twice])).toEqual([
        { kind: "published" },
        { kind: "published" },
      ]);

      await expectArrived(event("twice"), event("twice"));
    });

    test("delivers a detail unchanged", async () => {
      const text = 'ünï €😀 "quoted" \\ {"a":[null]} \n\t\u2028';

      await harness.bus.publish([entry(text)]);

      await expectArrived(event(text));
    });

    test("publishes any number of entries of the largest size", async () => {
      const outcomes = await harness.bus.publish([entry(LARGEST_TEXT), entry(LARGEST_TEXT)]);

      expect(outcomes).toEqual([{ kind: "published" }, { kind: "published" }]);
      await expectArrived(event(LARGEST_TEXT), event(LARGEST_TEXT));
    });

    test("fails an entry of more than 256 KiB and publishes the others", async () => {
      const outcomes = await harness.bus.publish([
        entry("before"),
        entry(`${LARGEST_TEXT}x`),
        entry("after"),
      ]);

      expect(outcomes).toEqual([
        { kind: "published" },
        {
          kind: "failed",
          code: "ValidationException",
          message: "Total size of the entries in the request is over the limit.",
        },
        { kind: "published" },
      ]);
      await expectArrived(event("before"), event("after"));
    });

    test("measures size in bytes of UTF-8", async () => {
      const outcomes = await harness.bus.publish([entry("€".repeat(100_000))]);

      expect(outcomes).toMatchObject([{ kind: "failed", code: "ValidationException" }]);
    });

    test("fails every entry, and does not reject, when nothing can be published", async () => {
      const reason = await harness.breakDown();

      const outcomes = await harness.bus.publish([entry("a"), entry("b")]);

      expect(outcomes).toEqual([
        { kind: "failed", code: expect.any(String), message: expect.stringMatching(reason) },
        { kind: "failed", code: expect.any(String), message: expect.stringMatching(reason) },
      ]);
      expect(await harness.arrived()).toEqual([]);
    });
  });
};
