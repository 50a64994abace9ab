import middy from "@middy/core";
import { describe, expect, it } from "vitest";
import { lambdaContext } from "../../../../lib/local/lambda-context.ts";
import { errorBoundary } from "../../../../lib/platform/lambda/error-boundary.ts";
import { createGate } from "../../../support/gate.ts";
import { createRecordingLog } from "../../../support/recording-log.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const context = lambdaContext("poll-tasks", 60_000, {
  clock: createVirtualClock(),
  random: createSeededRandom(),
});

describe("the error boundary", () => {
  it("logs an escaping error once and lets it escape", async () => {
    const log = createRecordingLog();
    const failure = new RangeError("too far");
    const handler = middy()
      .use(errorBoundary(async () => log))
      .handler(async () => {
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

  it("names what the call shows of whose it is, also of calls that fail at the same time", async () => {
    const log = createRecordingLog();
    const gate = createGate();
    const first = gate.hold("first");
    const handler = middy<{ name: string }, void>()
      .use(
        errorBoundary<{ name: string }>(
          async () => log,
          ({ name }) => ({ eventId: name }),
        ),
      )
      .handler(({ name }) => gate.around({ name, invocation: 1 }, () => Promise.reject("away")));

    const failing = handler({ name: "first" }, context);
    await first.reached;
    await expect(handler({ name: "second" }, context)).rejects.toBe("away");
    first.open();
    await expect(failing).rejects.toBe("away");

    expect(log.lines.map(({ fields }) => fields.eventId)).toEqual(["second", "first"]);
  });

  it("logs a call too that cannot be asked whose it is", async () => {
    const log = createRecordingLog();
    const whose = () => {
      throw new RangeError("Invalid time value");
    };
    const handler = middy()
      .use(errorBoundary(async () => log, whose))
      .handler(async () => "done");

    await expect(handler({}, context)).rejects.toThrow("Invalid time value");

    expect(log.lines).toMatchObject([
      { message: "invocation failed", fields: { errorKind: "RangeError" } },
    ]);
  });

  it("lets the error of a failed start-up escape, although there is no log yet", async () => {
    const failure = new Error("wrong settings: TABLE_NAME (required)");
    const handler = middy()
      .use(errorBoundary(() => Promise.reject(failure)))
      .handler(() => Promise.reject(failure));

    await expect(handler({}, context)).rejects.toBe(failure);
  });

  it("says nothing when nothing escapes", async () => {
    const log = createRecordingLog();
    const handler = middy()
      .use(errorBoundary(async () => log))
      .handler(async () => "done");

    expect(await handler({}, context)).toBe("done");
    expect(log.lines).toEqual([]);
  });
});
