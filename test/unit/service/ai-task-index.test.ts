import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AiTaskNow,
  type AiTaskOrder,
  createAiTaskIndex,
  taskAt,
} from "../../../lib/service/ai-task-index.ts";
import type { AiTaskRecord } from "../../../lib/service/state/ai-tasks.ts";

const timeOf = (second: number): string => new Date(1000 * second).toISOString();
const anySecond = fc.nat({ max: 9 });
const anyStatus = fc.constantFrom("PENDING", "STARTED", "SUCCESS");
const anyStep = fc.record({ after_seconds: anySecond, status: anyStatus, progress: anySecond });

const anyTask: fc.Arbitrary<AiTaskRecord> = fc.record({
  client_id: fc.constantFrom(1, 2),
  task_id: fc.constantFrom(..."abcdefghijkl"),
  task_name: fc.constantFrom("transcription", "content-moderation"),
  task_data: fc.constant({}),
  status: anyStatus,
  progress: anySecond,
  date_created: anySecond.map(timeOf),
  started_at: fc.option(anySecond.map(timeOf)),
  plan: fc
    .array(anyStep, { maxLength: 3 })
    .map((steps) => steps.toSorted((a, b) => a.after_seconds - b.after_seconds)),
  plan_from: fc.option(anySecond.map(timeOf), { freq: 5 }),
});

const anyQuery = fc.record({
  id: fc.option(fc.constantFrom("a", "b", "z"), { nil: undefined, freq: 2 }),
  client: fc.constantFrom(1, 2),
  status: fc.option(anyStatus),
  isRecent: fc.boolean(),
  order: fc.constantFrom<AiTaskOrder>("latest", "started_at", "task_id", "task_name", "status"),
  offset: fc.nat({ max: 4 }),
  limit: fc.integer({ min: 1, max: 5 }),
});
type Query = typeof anyQuery extends fc.Arbitrary<infer Q> ? Q : never;

/** A write, a removal, or a list after some seconds. */
const anyStepOfUse = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: anyTask }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.constantFrom(..."abcdefghijkl") }) },
  { weight: 2, arbitrary: fc.record({ query: anyQuery, waits: fc.nat({ max: 4 }) }) },
);

const isRecent = ({ record }: AiTaskNow): boolean => record.date_created >= timeOf(5);
const startOf = ({ started_at }: AiTaskNow): number =>
  started_at === null ? Number.POSITIVE_INFINITY : Date.parse(started_at);
const keyOf = (task: AiTaskNow, order: AiTaskOrder): number | string => {
  if (order === "latest") return -startOf(task);
  return order === "started_at" ? startOf(task) : { ...task.record, status: task.status }[order];
};

/** What a list should return: all tasks, filtered and then sorted. */
const expected = (records: ReadonlyMap<string, AiTaskRecord>, query: Query, at: number) => {
  const { id, client, status, order, offset, limit } = query;
  const found = [...records.values()]
    .map((record) => taskAt(record, at))
    .filter((task) => task.record.client_id === client)
    .filter((task) => (id ?? task.record.task_id) === task.record.task_id)
    .filter((task) => (status ?? task.status) === task.status)
    .filter((task) => !query.isRecent || isRecent(task))
    .sort((a, b) => (a.record.task_id < b.record.task_id ? -1 : 1))
    .sort((a, b) => {
      const [one, other] = [keyOf(a, order), keyOf(b, order)];
      return one === other ? 0 : one < other ? -1 : 1;
    });
  return { count: found.length, tasks: found.slice(offset, offset + limit) };
};

test("a list equals a search through all tasks, after any changes and at any instant", () => {
  fc.assert(
    fc.property(fc.array(anyTask), fc.array(anyStepOfUse), (first, steps) => {
      const records = new Map(first.map((record) => [record.task_id, record]));
      const index = createAiTaskIndex(records.values());
      let at = 0;
      for (const step of steps) {
        if ("write" in step) {
          records.set(step.write.task_id, step.write);
          index.note(step.write);
        } else if ("remove" in step) {
          records.delete(step.remove);
          index.forget(step.remove);
        } else {
          at += 1000 * step.waits;
          const { query } = step;
          const matches = query.isRecent ? isRecent : undefined;
          const isWanted = (group: { client_id: number; status: string }) =>
            group.client_id === query.client && (query.status ?? group.status) === group.status;
          expect(index.list({ ...query, isWanted, matches }, at)).toEqual(
            expected(records, query, at),
          );
        }
      }
    }),
    { seed: 20261125, numRuns: 500 },
  );
});
