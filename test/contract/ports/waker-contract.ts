import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { Waker } from "../../../lib/platform/ports/queue.ts";

export interface WakerHarness {
  readonly waker: Waker;
  /** Clock of the waker, virtual or real. */
  readonly clock: Clock;
  /** Waits until the instant. @returns the number of wake signals in the meantime */
  wakesUntil(at: number): Promise<number>;
  remove(): Promise<void>;
}

/** Tolerance after an instant: SQS delays by whole seconds, and a machine can be busy. */
const SOON_MS = 2_000;

/** The contract of the waker, for one adapter. `create` returns a waker without wake signals. */
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

    test("wakes once, at the requested instant or shortly after, and not before", async () => {
      await harness.waker.wakeAt(now + 1_500, 0);

      expect(await harness.wakesUntil(now + 1_300)).toBe(0);
      expect(await harness.wakesUntil(now + 1_500 + SOON_MS)).toBe(1);
    });

    test("wakes soon for an instant that has passed", async () => {
      await harness.waker.wakeAt(now - 5_000, 0);

      expect(await harness.wakesUntil(now + 800)).toBe(1);
    });

    test("wakes once per request, even for the same instant", async () => {
      for (const inMs of [1_000, 0, 1_000]) await harness.waker.wakeAt(now + inMs, 0);

      expect(await harness.wakesUntil(now + 1_000 + SOON_MS)).toBe(3);
    });

    test("accepts a distant instant, and does not wake at once for it", async () => {
      await harness.waker.wakeAt(now + 24 * 3_600_000, 0);

      expect(await harness.wakesUntil(now + 1_000)).toBe(0);
    });
  });
};
