import { expect, test } from "vitest";
import {
  type AiTask,
  endAiTask,
  endAiTaskWithoutEvent,
  vanishAiTask,
} from "../../../../lib/jobs/ai-tasks/ai-task.ts";
import { applyChecks, followOpen, refuseList } from "../../../../lib/jobs/ai-tasks/ai-watch.ts";
import type { OutboxEvent } from "../../../../lib/ledger/outbox.ts";
import { idOf } from "./ai-provider.ts";

const ID = { account: "local", taskId: "t" };
const END = { ...ID, status: "SUCCESS", endedAt: 5 };
const VANISHING = { ...ID, missingSince: 1, vanishedAt: 4 };

const event = (deduplicationId: string): OutboxEvent => ({
  detailType: "AiTaskEnded",
  detail: {},
  time: 5,
  groupId: "local/t",
  deduplicationId,
});

const vanished = vanishAiTask(undefined, VANISHING, event("gone"));
const published = endAiTask(undefined, END, event("end"));
const noted = endAiTaskWithoutEvent(undefined, END);

test.each<[string, AiTask]>([
  ["published", published],
  ["noted", noted],
])("an end that was %s is final: the task cannot vanish", (_what, ended) => {
  expect(vanishAiTask(ended, VANISHING, event("gone"))).toBe(ended);
});

test("an end that was published is not published again", () => {
  expect(endAiTask(published, { ...END, status: "FAILURE", endedAt: 9 }, event("again"))).toBe(
    published,
  );
});

test("a recorded end gets its event from a caller that has seen the task running", () => {
  expect(endAiTask(noted, END, event("end"))).toEqual({
    ...ID,
    recordedAt: 5,
    state: { kind: "ended", status: "SUCCESS", endedAt: 5, isTold: true },
    outbox: [event("end")],
  });
});

test("recording the end of a task changes no earlier record of the task", () => {
  expect(endAiTaskWithoutEvent(vanished, END)).toBe(vanished);
  expect(endAiTaskWithoutEvent(published, END)).toBe(published);
});

test("one absence is recorded once, and another one with an event of its own", () => {
  const again = vanishAiTask(vanished, { ...VANISHING, missingSince: 7 }, event("gone again"));

  expect(vanishAiTask(vanished, { ...VANISHING, vanishedAt: 6 }, event("late"))).toBe(vanished);
  expect(again.state).toMatchObject({ kind: "vanished", missingSince: 7 });
  expect(again.outbox).toEqual([event("gone"), event("gone again")]);
});

test("an end after a disappearance is published behind it", () => {
  expect(endAiTask(vanished, END, event("end")).outbox).toEqual([event("gone"), event("end")]);
});

test("the longest watch fits into an item of 400 kB", () => {
  const NOW = Date.UTC(2026, 0, 1);
  const taskName = "n".repeat(64);
  const tasks = Array.from({ length: 2_000 }, (_, n) => ({ taskId: idOf(n), taskName }));
  const followed = followOpen({ open: [], outbox: [] }, tasks, NOW);
  const missing = { kind: "missing" as const, since: NOW, looks: 3 };
  const watch = applyChecks(followed, new Map(tasks.map(({ taskId }) => [taskId, missing])));
  const refusal = { now: NOW, status: 403, problem: "p".repeat(1_000) };
  const { outbox } = refuseList({ open: [], outbox: [] }, "local", refusal);
  const events = Array.from({ length: 20 }, () => outbox).flat();

  expect(watch.open).toHaveLength(2_000);
  expect(JSON.stringify({ ...watch, outbox: events }).length).toBeLessThan(400 * 1_024);
});
