import { describe, expect, test } from "vitest";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";

describe("the system clock", () => {
  test("advances while it sleeps", async () => {
    const clock = createSystemClock();
    const before = clock.now();

    await clock.sleep(20);

    // A timer may fire up to a millisecond early.
    expect(clock.now() - before).toBeGreaterThanOrEqual(19);
  });

  test("ends a sleep without a rejection when the signal aborts", async () => {
    const stopping = new AbortController();
    const slept = createSystemClock().sleep(3_600_000, stopping.signal);

    stopping.abort();

    await expect(slept).resolves.toBeUndefined();
  });

  test("does not sleep if the signal has aborted already", async () => {
    await expect(
      createSystemClock().sleep(3_600_000, AbortSignal.abort()),
    ).resolves.toBeUndefined();
  });

  test("sleeps even longer than a timer allows", async () => {
    const stopping = new AbortController();
    let isAwake = false;
    const slept = createSystemClock()
      .sleep(2 ** 31, stopping.signal)
      .then(() => {
        isAwake = true;
      });

    await createSystemClock().sleep(20);
    expect(isAwake).toBe(false);

    stopping.abort();
    await slept;
  });
});

describe("the system's random source", () => {
  test("creates distinct version 7 UUIDs that sort in the order of creation", () => {
    const random = createSystemRandom();

    const made = Array.from({ length: 1000 }, () => random.uuid());

    expect(new Set(made).size).toBe(1000);
    expect(made).toEqual([...made].sort());
    expect(made[0]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test("returns fractions from 0 to below 1", () => {
    const random = createSystemRandom();

    const fractions = Array.from({ length: 1000 }, () => random.fraction());

    expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true);
    expect(new Set(fractions).size).toBeGreaterThan(990);
  });
});
