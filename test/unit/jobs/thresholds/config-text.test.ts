import * as fc from "fast-check";
import { expect, test } from "vitest";
import { STORAGE_EVENT_NAMES } from "../../../../lib/contract/storage-events.ts";
import {
  readThresholdConfig,
  writeThresholdConfig,
} from "../../../../lib/jobs/thresholds/config.ts";
import { planChanges } from "../../../../lib/jobs/thresholds/threshold.ts";

const name = fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 255 }), {
  nil: undefined,
});

test("a written file plans no change, with any names", () => {
  void fc.assert(
    fc.property(
      fc.array(
        fc.record({
          name: fc.constantFrom(...STORAGE_EVENT_NAMES),
          storage_name: name,
          bucket_name: name,
          limit: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
        }),
      ),
      (actual) => {
        const read = readThresholdConfig(writeThresholdConfig(actual, []));

        expect(read.kind).toBe("valid");
        const { thresholds = [], prune = true } = read.kind === "valid" ? read.value : {};
        expect(prune).toBe(false);
        const first = planChanges(thresholds, actual, false);
        expect(first.changes).toEqual([]);
      },
    ),
  );
});

test("a threshold without a limit is left out, and a comment names it", () => {
  const text = writeThresholdConfig(
    [
      { name: "reaching_used_space", bucket_name: "a\nb" },
      { name: "reaching_used_requests", limit: "5" },
    ],
    ["Notification thresholds at https://api.example.com"],
  );

  expect(text).toBe(`# Notification thresholds at https://api.example.com
# left out, because it has no limit: {"name":"reaching_used_space","bucket_name":"a\\nb"}

prune: false
thresholds:
  - name: reaching_used_requests
    count: 5
`);
});

test("the first of two thresholds with equivalent targets is written", () => {
  const text = writeThresholdConfig(
    [
      { name: "reaching_used_space", bucket_name: "", limit: "1024" },
      { name: "reaching_used_space", limit: "7" },
    ],
    [],
  );

  expect(text).toContain("bytes: 1 KiB");
  expect(text).not.toContain("7");
});
