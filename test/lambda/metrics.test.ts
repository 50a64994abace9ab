import { afterEach, expect, test, vi } from "vitest";
import { createEmfMetrics } from "../../lib/lambda/metrics.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a count is one line in the embedded metric format, at once", () => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
  const metrics = createEmfMetrics("skyhook-prod");

  metrics.count("AccountKeyRefused", { account: "acme" });
  metrics.count("EventIgnored");

  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: "skyhook",
            Dimensions: [["service", "account"]],
            Metrics: [{ Name: "AccountKeyRefused", Unit: "Count" }],
          },
        ],
      },
      service: "skyhook-prod",
      account: "acme",
      AccountKeyRefused: 1,
    },
    expect.objectContaining({ service: "skyhook-prod", EventIgnored: 1 }),
  ]);
});
