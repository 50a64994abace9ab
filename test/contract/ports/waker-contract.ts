import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { Waker } from "../../../lib/platform/ports/queue.ts";

export interface WakerHarness {
  readonly waker: Waker;
  /** The waker's; virtual or real. */
  readonly clock: Clock;
  /** Lets the time go on until that instant. @returns how many wakes came meanwhile */
  wakesUntil(at: number): Promise<number>;
  remove(): Promise<void>;
}

/** "Soon after" an instant: SQS delays by whole seconds, and a machine is busy at times. */
const SOON_MS = 2_000;

/** Every law of the waker, for one adapter. `create` gives one without wakes. */
export const describeWakerContract = (name: string, create: () => Promise<WakerHarness>): void => {
  describe(`a waker (${name})`, () => {
    let harness: WakerHarness;
    let now: number;
    beforeEach(async () => {
      harness = await create();
      const { remove } = harness;
      onTestFinished(remove);
      now = harness.clock.now();
    });

    test("wakes once, at the instant that was asked for or soon after, and not before", async () => {
      await harness.waker.wakeAt(now + 1_500);

      expect(await harness.wakesUntil(now + 1_300)).toBe(0);
      expect(await harness.wakesUntil(now + 1_500 + SOON_MS)).toBe(1);
    });

    test("wakes soon for an instant that has passed", async () => {
      await harness.waker.wakeAt(now - 5_000);

      expect(await harness.wakesUntil(now + 800)).toBe(1);
    });

    test("wakes as often as was asked for, the same instant included", async () => {
      for (const inMs of [1_000, 0, 1_000]) await harness.waker.wakeAt(now + inMs);

      expect(await harness.wakesUntil(now + 1_000 + SOON_MS)).toBe(3);
    });

    test("takes an instant that is far away, and does not wake at once for it", async () => {
      await harness.waker.wakeAt(now + 24 * 3_600_000);

      expect(await harness.wakesUntil(now + 1_000)).toBe(0);
    });
  });
};
