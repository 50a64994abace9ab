import { setImmediate as letOthersRun } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAdjustableClock } from "../../../lib/service/adjustable-clock.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const open = () => {
  const base = createVirtualClock(1_000);
  const clock = createAdjustableClock(base);
  const woken: number[] = [];
  const sleep = (durationMs: number, signal?: AbortSignal) =>
    clock.sleep(durationMs, signal).then(() => woken.push(durationMs));
  return { base, clock, woken, sleep };
};

describe("an adjustable clock", () => {
  it("runs like its base, ahead by what it was advanced", async () => {
    const { base, clock } = open();
    clock.advance(500);
    await base.advance(100);

    expect([clock.now(), clock.aheadMs(), clock.isFrozen()]).toEqual([1_600, 500, false]);
  });

  it("stands while it is frozen, moves when it is advanced, and goes on from there", async () => {
    const { base, clock } = open();
    clock.freeze();
    await base.advance(300);
    const frozen = [clock.now(), clock.aheadMs()];
    clock.advance(100);
    const moved = clock.now();
    clock.resume();
    await base.advance(50);

    expect([...frozen, moved, clock.now(), clock.aheadMs()]).toEqual([
      1_000, -300, 1_100, 1_150, -200,
    ]);
  });

  it("wakes the sleeps that an advance makes due, and no other", async () => {
    const { base, clock, woken, sleep } = open();
    void sleep(100);
    void sleep(300);
    clock.advance(100);
    await letOthersRun();
    const afterAdvance = [...woken];
    await base.advance(199);
    const before = [...woken];
    await base.advance(1);

    expect([afterAdvance, before, woken]).toEqual([[100], [100], [100, 300]]);
  });

  it("wakes no sleep while it is frozen, however long", async () => {
    const { base, clock, woken, sleep } = open();
    void sleep(100);
    clock.freeze();
    void sleep(200);
    await base.advance(10_000);
    const frozen = [...woken];
    clock.advance(150);
    await letOthersRun();
    const advanced = [...woken];
    clock.resume();
    await base.advance(50);

    expect([frozen, advanced, woken]).toEqual([[], [100], [100, 200]]);
  });

  it("ends a sleep when its signal aborts, frozen or not, also one that was aborted before", async () => {
    const { clock, woken, sleep } = open();
    const ending = new AbortController();
    void sleep(1, ending.signal);
    clock.freeze();
    void sleep(2, ending.signal);
    await letOthersRun();
    ending.abort();
    await letOthersRun();
    await sleep(3, ending.signal);

    expect(woken.toSorted()).toEqual([1, 2, 3]);
  });

  it("never goes back, and refuses the years from 9999 on", async () => {
    const step = fc.oneof(fc.constantFrom("freeze", "resume"), fc.nat({ max: 10_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat({ max: 10_000 }))), async (steps) => {
        const { base, clock } = open();
        let last = clock.now();
        for (const [act, passed] of steps) {
          if (act === "freeze") clock.freeze();
          else if (act === "resume") clock.resume();
          else clock.advance(Number(act));
          expect(clock.now()).toBeGreaterThanOrEqual(last);
          await base.advance(passed);
          expect(clock.now()).toBeGreaterThanOrEqual(last);
          last = clock.now();
        }
      }),
      { seed: 20260101, numRuns: 30 },
    );
    expect(() => open().clock.advance(Date.UTC(9999, 0, 1))).toThrow(RangeError);
  });

  it.each([-1, Number.NaN])("refuses to be advanced by %s, and keeps its time", (durationMs) => {
    const { clock } = open();

    expect(() => clock.advance(durationMs)).toThrow(RangeError);
    expect(clock.now()).toBe(1_000);
  });
});
