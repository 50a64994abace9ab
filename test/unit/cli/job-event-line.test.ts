import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { jobLineOf } from "../../../lib/cli/job-event-line.ts";

const lineOf = (detailType: string, data: object) => {
  const line = jobLineOf(detailType, data, "main");
  return line && [line.job, line.subject, stripVTControlCharacters(line.text)];
};

const COUNTS = { created: 0, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 0 };
const SYNC = {
  cause: "schedule",
  source: { name: "/home/me/thresholds.yaml", version: "1" },
  prune: false,
  actualFrom: "list",
};
const SYNCED = { ...SYNC, outcome: "complete", counts: COUNTS, changes: [] };

test("an account with a refused AI task list is named, and named again after recovery", () => {
  const since = "2026-01-31T12:00:00.000Z";

  expect(lineOf("AiTaskListRefused", { since, status: 403, problem: "no" })).toEqual([
    "account",
    "main",
    `the provider has refused the list of AI tasks (403) since ${since}`,
  ]);
  expect(lineOf("AiTaskListAccepted", { since, refusedSince: since })).toEqual([
    "account",
    "main",
    "the provider lists AI tasks again: Skyhook watches them",
  ]);
});

test("an account with a refused API key is named, and named again after recovery", () => {
  const since = "2026-01-31T12:00:00.000Z";

  expect(lineOf("AccountKeyRefused", { since })).toEqual([
    "account",
    "main",
    "the provider has refused the API key since 2026-01-31T12:00:00.000Z: commands wait",
  ]);
  expect(lineOf("AccountKeyAccepted", { since, refusedSince: since })).toEqual([
    "account",
    "main",
    "the provider accepts the API key again: commands continue",
  ]);
});

test.each([
  [{ counts: { ...COUNTS, created: 2, unchanged: 1 } }, "synced: 2 created, 1 unchanged"],
  [{}, "synced: no thresholds"],
  [
    { outcome: "partial", counts: { ...COUNTS, deleted: 1, failed: 1, left: 3 } },
    "partly synced: 1 deleted, 1 failed, 3 left",
  ],
])("a sync shows its counts", (own, text) => {
  expect(lineOf("ThresholdsSynced", { ...SYNCED, ...own })).toEqual([
    "thresholds",
    "thresholds.yaml",
    text,
  ]);
});

test("drift shows counts of missing, different and unwanted thresholds", () => {
  const counts = { missing: 1, different: 0, unwanted: 2 };

  expect(lineOf("ThresholdsDrifted", { ...SYNC, counts, differences: [] })).toEqual([
    "thresholds",
    "thresholds.yaml",
    "drifted: 1 missing, 2 unwanted",
  ]);
});

test("a rejection shows the first mistakes with their lines, with control characters escaped", () => {
  const problems = [3, 4, 5].map((line) => ({ path: `p\u001b${line}`, rule: "required", line }));
  const data = {
    cause: "object-created",
    source: { name: "s3://configs/thresholds.yaml" },
    reason: "invalid",
    problemCount: 7,
    problems,
  };

  expect(lineOf("ThresholdsRejected", data)?.[2]).toBe(
    "rejected: line 3: p\\u001b3: required; line 4: p\\u001b4: required; line 5: p\\u001b5: required; 4 more",
  );
});

test("a rejected watchlist shows its mistakes with their lines", () => {
  const data = {
    bucket: "2026-01-01T00:00:00.000Z",
    source: { name: "/tmp/watchlist.yaml", version: "1" },
    problemCount: 1,
    problems: [{ path: "items.0.name", rule: "required", line: 2 }],
  };

  expect(lineOf("WatchlistRejected", data)?.[2]).toBe("rejected: line 2: items.0.name: required");
});

const CAPTURED = {
  bucket: "2026-01-01T00:00:00.000Z",
  items: 4,
  first: 0,
  changed: 1,
  unchanged: 3,
  notCompared: 0,
  failed: 0,
  failures: [],
};

test.each([
  [{}, "captured: 1 changed, 3 unchanged"],
  [{ changed: 0, unchanged: 1, notCompared: 3 }, "captured: 1 unchanged, 3 not compared"],
  [
    { first: 1, unchanged: 0, notCompared: 1, failed: 1 },
    "captured: 1 first, 1 changed, 1 not compared, 1 failed",
  ],
  [{ changed: 0, unchanged: 0 }, "captured: nothing to compare"],
])("a snapshot shows its counts", (own, text) => {
  expect(lineOf("PricesCaptured", { ...CAPTURED, ...own })).toEqual(["prices", "4 items", text]);
});

const total = (
  per_month: string | null,
  currency: string | null = "EUR",
  per_hour: string | null = null,
) => ({ per_month, per_hour, currency });
const CHANGED = {
  name: "web-server",
  kind: "instance",
  number: 2,
  before: total("48.20"),
  after: total("51.08"),
  percent: "5.97",
  categories: [],
  categoryCount: 0,
  readAt: "2026-01-01T00:00:00.000Z",
  previousReadAt: "2025-12-31T00:00:00.000Z",
};

test.each([
  [{}, "48.20 → 51.08 EUR a month (+5.97 %)"],
  [{ percent: "-3.10" }, "48.20 → 51.08 EUR a month (-3.10 %)"],
  [{ percent: null, before: total(null) }, "? → 51.08 EUR a month"],
  [{ percent: null, after: total(null) }, "48.20 → ? EUR a month"],
  [
    { percent: null, before: total("100"), after: total("100", "USD") },
    "100 EUR → 100 USD a month",
  ],
  [
    { percent: null, before: total("100", null), after: total("100", "USD") },
    "100 ? → 100 USD a month",
  ],
  [{ percent: null, before: total(null), after: total(null, "USD") }, "? EUR → ? USD a month"],
  [
    { percent: "10.00", before: total(null, "EUR", "1"), after: total(null, "EUR", "1.1") },
    "1 → 1.1 EUR an hour (+10.00 %)",
  ],
  [
    { percent: "100.00", before: total("720", "EUR", "1"), after: total(null, "EUR", "2") },
    "1 → 2 EUR an hour (+100.00 %)",
  ],
  [
    { percent: null, before: total(null, "EUR", null), after: total(null, "EUR", "2") },
    "? → 2 EUR an hour",
  ],
])("a changed price shows the totals before and after", (own, text) => {
  expect(lineOf("PriceChanged", { ...CHANGED, ...own })).toEqual(["prices", "web-server", text]);
});

test.each([
  [{ categoryCount: 1 }, "total unchanged, 100 EUR a month: 1 category changed"],
  [{ categoryCount: 12 }, "total unchanged, 100 EUR a month: 12 categories changed"],
  [
    {
      categoryCount: 2,
      before: total(null, "EUR", "0.5"),
      after: total(null, "EUR", "0.5"),
    },
    "total unchanged, 0.5 EUR an hour: 2 categories changed",
  ],
  [
    { categoryCount: 3, percent: null, before: total(null), after: total(null) },
    "no total: 3 categories changed",
  ],
])("a price with changed parts alone shows an unchanged total", (own, text) => {
  const same = { before: total("100"), after: total("100"), percent: "0.00" };

  expect(lineOf("PriceChanged", { ...CHANGED, ...same, ...own })?.[2]).toBe(text);
});

test("an AI task shows its final status, or that it vanished", () => {
  const taskId = "aafe70c6-0000-4000-8000-327b65f76701";

  expect(lineOf("AiTaskEnded", { taskId, taskName: "transcription", status: "SUCCESS" })).toEqual([
    "ai-task",
    taskId,
    "transcription ended: SUCCESS",
  ]);
  expect(lineOf("AiTaskEnded", { taskId, status: "REVOKED" })?.[2]).toBe("task ended: REVOKED");
  expect(lineOf("AiTaskVanished", { taskId, missingSince: "2026-01-01T00:00:00.000Z" })).toEqual([
    "ai-task",
    taskId,
    "vanished: its end is unknown",
  ]);
});

test("an event of a command has no job line", () => {
  expect(lineOf("CommandSucceeded", {})).toBeUndefined();
});
