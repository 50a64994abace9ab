import middy from "@middy/core";
import { describe, expect, it } from "vitest";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { lambdaContext } from "../../lib/local/lambda-context.ts";
import { createRecordingLog } from "../support/recording-log.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

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
