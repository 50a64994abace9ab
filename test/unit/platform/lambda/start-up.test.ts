import { describe, expect, it } from "vitest";
import { once } from "../../../../lib/platform/lambda/start-up.ts";

/** Answers in turn: a number is a value, an error is a failure. */
const inTurn = (...answers: readonly (number | Error)[]) => {
  const left = [...answers];
  let calls = 0;
  return {
    calls: () => calls,
    async read(): Promise<number> {
      calls += 1;
      const answer = left.shift();
      if (typeof answer !== "number") throw answer;
      return answer;
    },
  };
};

describe("a start-up", () => {
  it("runs once for all invocations, also for those that come at the same time", async () => {
    const source = inTurn(1, 2);
    const start = once(source.read);

    expect(await Promise.all([start(), start()])).toEqual([1, 1]);
    expect(await start()).toBe(1);
    expect(source.calls()).toBe(1);
  });

  it("does not run before somebody needs it", () => {
    const source = inTurn(1);

    once(source.read);

    expect(source.calls()).toBe(0);
  });

  it("is tried again after a failure", async () => {
    const failure = new Error("no parameter");
    const source = inTurn(failure, 2);
    const start = once(source.read);

    await expect(start()).rejects.toBe(failure);

    expect(await start()).toBe(2);
    expect(await start()).toBe(2);
    expect(source.calls()).toBe(2);
  });
});
