import type { Context } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { lambdaContext } from "../../../../lib/local/aws-events.ts";
import { createHandler, once, withTimeBudget } from "../../../../lib/platform/lambda/invocation.ts";
import { createGate } from "../../../support/gate.ts";
import { createRecordingLog } from "../../../support/logs.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../../support/virtual-clock.ts";

const contextOf = (clock: VirtualClock, timeoutMs: number): Context =>
  lambdaContext("run-commands", timeoutMs, { clock, random: createSeededRandom() });

const context = contextOf(createVirtualClock(), 60_000);

const openLog = () => {
  const bound: Context[] = [];
  return {
    ...createRecordingLog(),
    /** Contexts of the log's bindings. */
    bound,
    bind: (to: Context) => void bound.push(to),
  };
};

describe("a handler", () => {
  it("logs an escaping error once and rethrows it", async () => {
    const log = openLog();
    const failure = new RangeError("too far");
    const handler = createHandler(log, async () => {
      throw failure;
    });

    await expect(handler({}, context)).rejects.toBe(failure);

    expect(log.lines).toEqual([
      {
        level: "error",
        message: "invocation failed",
        fields: {
          requestId: context.awsRequestId,
          errorKind: "RangeError",
          errorMessage: "too far",
          stack: failure.stack,
        },
      },
    ]);
  });

  it("logs the ids of the event, also for concurrent failures", async () => {
    const log = openLog();
    const gate = createGate();
    const first = gate.hold("first");
    const handler = createHandler(
      log,
      ({ name }: { name: string }) =>
        gate.around({ name, invocation: 1 }, () => Promise.reject("away")),
      ({ name }) => ({ eventId: name }),
    );

    const failing = handler({ name: "first" }, context);
    await first.reached;
    await expect(handler({ name: "second" }, context)).rejects.toBe("away");
    first.open();
    await expect(failing).rejects.toBe("away");

    expect(log.lines.map(({ fields }) => fields.eventId)).toEqual(["second", "first"]);
  });

  it("logs an event without readable ids too", async () => {
    const log = openLog();
    const handler = createHandler(
      log,
      async () => "done",
      () => {
        throw new RangeError("Invalid time value");
      },
    );

    await expect(handler({}, context)).rejects.toThrow("Invalid time value");

    expect(log.lines).toMatchObject([
      { message: "invocation failed", fields: { errorKind: "RangeError" } },
    ]);
  });

  it("binds its log to the invocation, and logs nothing without an error", async () => {
    const log = openLog();
    const handler = createHandler(log, async () => "done");

    expect(await handler({}, context)).toBe("done");
    expect(log.bound).toEqual([context]);
    expect(log.lines).toEqual([]);
  });
});

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
  it("runs once for all invocations, also for concurrent ones", async () => {
    const source = inTurn(1, 2);
    const start = once(source.read);

    expect(await Promise.all([start(), start()])).toEqual([1, 1]);
    expect(await start()).toBe(1);
    expect(source.calls()).toBe(1);
  });

  it("does not run before the first call", () => {
    const source = inTurn(1);

    once(source.read);

    expect(source.calls()).toBe(0);
  });

  it("is retried after a failure", async () => {
    const failure = new Error("no parameter");
    const source = inTurn(failure, 2);
    const start = once(source.read);

    await expect(start()).rejects.toBe(failure);

    expect(await start()).toBe(2);
    expect(await start()).toBe(2);
    expect(source.calls()).toBe(2);
  });
});

describe("the time budget of an invocation", () => {
  it("reserves three seconds for recording outcomes", async () => {
    const clock = createVirtualClock(0);

    await withTimeBudget(contextOf(clock, 30_000), clock, async (budget) => {
      expect(budget.endsAt).toBe(27_000);
      expect(budget.has(27_000)).toBe(true);
      expect(budget.has(27_001)).toBe(false);
    });
    expect.assertions(3);
  });

  it("shrinks with the time", async () => {
    const clock = createVirtualClock(0);

    await withTimeBudget(contextOf(clock, 30_000), clock, async (budget) => {
      await clock.advance(17_000);

      expect(budget.has(10_000)).toBe(true);
      expect(budget.has(10_001)).toBe(false);
    });
    expect.assertions(2);
  });

  it("starts from the remaining time of the invocation", async () => {
    const clock = createVirtualClock(0);
    const late = contextOf(clock, 30_000);

    await clock.advance(20_000);

    expect(await withTimeBudget(late, clock, async ({ endsAt }) => endsAt)).toBe(27_000);
  });

  it("aborts calls at its end and not before", async () => {
    const clock = createVirtualClock(0);

    await withTimeBudget(contextOf(clock, 30_000), clock, async ({ signal }) => {
      await clock.advance(26_999);
      expect(signal.aborted).toBe(false);

      await clock.advance(1);
      expect(signal.aborted).toBe(true);
    });
    expect.assertions(2);
  });

  it.each([
    ["came to its end", async () => "done"],
    ["failed", () => Promise.reject(new Error("away"))],
  ])("does not abort after the work %s", async (_end, work) => {
    const clock = createVirtualClock(0);
    let signal: AbortSignal | undefined;

    const working = withTimeBudget(contextOf(clock, 30_000), clock, (budget) => {
      signal = budget.signal;
      return work();
    });
    await Promise.allSettled([working]);
    await clock.advance(60_000);

    expect(signal?.aborted).toBe(false);
  });

  it("is empty when the invocation has almost no time", async () => {
    const clock = createVirtualClock(0);

    await withTimeBudget(contextOf(clock, 2_000), clock, async (budget) => {
      await clock.advance(0);

      expect(budget.endsAt).toBe(0);
      expect(budget.has(1)).toBe(false);
      expect(budget.signal.aborted).toBe(true);
    });
    expect.assertions(3);
  });
});
