import { afterEach, expect, test, vi } from "vitest";
import { lambdaContext } from "../../../../lib/local/lambda-context.ts";
import { createInvocationLog } from "../../../../lib/platform/lambda/invocation-log.ts";
import { printedLines } from "../../../support/printed-lines.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const PORTS = { clock: createVirtualClock(), random: createSeededRandom() };

afterEach(() => {
  vi.restoreAllMocks();
});

test("a line is JSON with its level, message, fields and the invocation's request id", () => {
  const lines = printedLines();
  const log = createInvocationLog();
  const context = lambdaContext("run-commands", 30_000, PORTS);

  log.bind(context);
  log.warn("event not published", { eventId: "e1", errorCode: undefined });

  expect(lines()).toEqual([
    expect.objectContaining({
      level: "WARN",
      message: "event not published",
      service: "skyhook",
      eventId: "e1",
      function_request_id: context.awsRequestId,
    }),
  ]);
  expect(lines()[0]).not.toHaveProperty("errorCode");
});

test("work that goes on side by side writes lines with its own fields only", () => {
  const lines = printedLines();
  const log = createInvocationLog();
  const first = log.with({ commandId: "c1" });
  const second = log.with({ commandId: "c2" }).with({ taskId: "t2" });

  first.info("one");
  second.info("two");
  first.error("three", { taskId: "t1" });
  log.info("four");

  expect(lines()).toMatchObject([
    { message: "one", commandId: "c1" },
    { message: "two", commandId: "c2", taskId: "t2" },
    { message: "three", commandId: "c1", taskId: "t1" },
    { message: "four" },
  ]);
  expect(lines()[0]).not.toHaveProperty("taskId");
  expect(lines()[3]).not.toHaveProperty("commandId");
});

test("what is bound to an invocation is on the lines of work that began before", () => {
  const lines = printedLines();
  const log = createInvocationLog();
  const work = log.with({ commandId: "c1" });
  const context = lambdaContext("run-commands", 30_000, PORTS);

  log.bind(context);
  work.info("one");

  expect(lines()).toMatchObject([{ commandId: "c1", function_request_id: context.awsRequestId }]);
});
