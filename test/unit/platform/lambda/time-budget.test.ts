import type { Context } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { lambdaContext } from "../../../../lib/local/lambda-context.ts";
import { startTimeBudget } from "../../../../lib/platform/lambda/time-budget.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../../support/virtual-clock.ts";

const contextOf = (clock: VirtualClock, timeoutMs: number): Context =>
  lambdaContext("run-commands", timeoutMs, { clock, random: createSeededRandom() });

describe("the time budget of an invocation", () => {
  it("keeps three seconds back for recording what happened", () => {
    const clock = createVirtualClock(0);

    const budget = startTimeBudget(contextOf(clock, 30_000), clock);

    expect(budget.endsAt).toBe(27_000);
    expect(budget.has(27_000)).toBe(true);
    expect(budget.has(27_001)).toBe(false);
  });

  it("has less for new work as time goes by", async () => {
    const clock = createVirtualClock(0);
    const budget = startTimeBudget(contextOf(clock, 30_000), clock);

    await clock.advance(17_000);

    expect(budget.has(10_000)).toBe(true);
    expect(budget.has(10_001)).toBe(false);
  });

  it("counts what a late start has used up already", async () => {
    const clock = createVirtualClock(0);
    const context = contextOf(clock, 30_000);

    await clock.advance(20_000);

    expect(startTimeBudget(context, clock).endsAt).toBe(27_000);
  });

  it("aborts calls at its end and not before", async () => {
    const clock = createVirtualClock(0);
    const budget = startTimeBudget(contextOf(clock, 30_000), clock);

    await clock.advance(26_999);
    const before = budget.signal.aborted;
    await clock.advance(1);

    expect(before).toBe(false);
    expect(budget.signal.aborted).toBe(true);
  });

  it("aborts nothing any more after it was stopped", async () => {
    const clock = createVirtualClock(0);
    const budget = startTimeBudget(contextOf(clock, 30_000), clock);

    budget.stop();
    await clock.advance(60_000);

    expect(budget.signal.aborted).toBe(false);
  });

  it("has time for nothing when the invocation has almost none", async () => {
    const clock = createVirtualClock(0);
    const budget = startTimeBudget(contextOf(clock, 2_000), clock);

    await clock.advance(0);

    expect(budget.endsAt).toBe(0);
    expect(budget.has(1)).toBe(false);
    expect(budget.signal.aborted).toBe(true);
  });
});
