import { afterEach, expect, test, vi } from "vitest";
import { createEmfMetrics } from "../../../../lib/platform/lambda/metrics.ts";
import { printedLines } from "../../../support/printed-lines.ts";

afterEach(() => {
  vi.restoreAllMocks();
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

test("a count is one line in the embedded metric format, at once", () => {
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

test("a value and what is counted with it are one line, with units of their own", () => {
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

test("nothing of one line is left in the next", () => {
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
