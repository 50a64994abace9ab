import { afterEach, expect, test, vi } from "vitest";
import { lambdaContext } from "../../../../lib/local/aws-events.ts";
import {
  createEmfMetrics,
  createInvocationLog,
} from "../../../../lib/platform/lambda/powertools.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

/** Captures printed lines, each read as JSON. The test restores all mocks. */
const printedLines = (): (() => readonly unknown[]) => {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
  }
  return () => lines.map((line) => JSON.parse(line));
};

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

test("concurrent work logs its own fields only", () => {
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

test("a binding to an invocation applies to logs made before it", () => {
  const lines = printedLines();
  const log = createInvocationLog();
  const work = log.with({ commandId: "c1" });
  const context = lambdaContext("run-commands", 30_000, PORTS);

  log.bind(context);
  work.info("one");

  expect(lines()).toMatchObject([{ commandId: "c1", function_request_id: context.awsRequestId }]);
});

/** A line in the embedded metric format, as CloudWatch documents it. */
const emfLine = (
  metrics: readonly { readonly Name: string; readonly Unit: string }[],
  values: Readonly<Record<string, unknown>>,
  dimensions: readonly string[] = ["service"],
) => ({
  _aws: {
    Timestamp: expect.any(Number),
    CloudWatchMetrics: [{ Namespace: "skyhook", Dimensions: [dimensions], Metrics: metrics }],
  },
  service: "skyhook-prod",
  ...values,
});

test("a count writes one line in the embedded metric format immediately", () => {
  const lines = printedLines();
  const metrics = createEmfMetrics("skyhook-prod");

  metrics.count("AccountKeyRefused", { account: "acme" });
  metrics.count("EventIgnored");

  expect(lines()).toEqual([
    emfLine(
      [{ Name: "AccountKeyRefused", Unit: "Count" }],
      { account: "acme", AccountKeyRefused: 1 },
      ["service", "account"],
    ),
    emfLine([{ Name: "EventIgnored", Unit: "Count" }], { EventIgnored: 1 }),
  ]);
});

test("a value and its counters are one line, each with its unit", () => {
  const lines = printedLines();
  const metrics = createEmfMetrics("skyhook-prod");

  metrics.measure({ name: "LedgerLag", value: 0.25, unit: "Seconds" }, ["PollerRan"]);

  expect(lines()).toEqual([
    emfLine(
      [
        { Name: "LedgerLag", Unit: "Seconds" },
        { Name: "PollerRan", Unit: "Count" },
      ],
      { LedgerLag: 0.25, PollerRan: 1 },
    ),
  ]);
});

test("no metric of one line remains in the next", () => {
  const lines = printedLines();
  const metrics = createEmfMetrics("skyhook-prod");

  metrics.count("CommandEnded", { outcome: "failed" });
  metrics.measure({ name: "CommandDuration", value: 1_500, unit: "Milliseconds" }, [
    "UnknownOutcome",
  ]);
  metrics.measure({ name: "CommandDuration", value: 20, unit: "Milliseconds" });

  expect(lines()[1]).toMatchObject({ CommandDuration: 1_500, UnknownOutcome: 1 });
  expect(lines()[1]).not.toHaveProperty("outcome");
  expect(lines()[2]).toEqual(
    emfLine([{ Name: "CommandDuration", Unit: "Milliseconds" }], { CommandDuration: 20 }),
  );
});
