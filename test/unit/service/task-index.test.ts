import fc from "fast-check";
import { expect, test } from "vitest";
import { builtInState } from "../../../lib/service/state/state.ts";
import type { TaskRecord } from "../../../lib/service/state/tasks.ts";
import { createTaskIndex, type TaskGroup } from "../../../lib/service/task-index.ts";

const [builtIn] = builtInState().tasks;

interface Traits {
  readonly id: string;
  readonly state: TaskRecord["state"];
  /** Second of its creation and, later by as much, of its next change or its end. */
  readonly at: number;
  readonly project: number;
  readonly isAcknowledged: boolean;
}

const timeOf = (second: number): string => new Date(1000 * second).toISOString();

const taskOf = ({ id, state, at, project, isAcknowledged }: Traits): TaskRecord => {
  if (builtIn === undefined) throw new Error("the built-in state has no task");
  const work = { kind: "create-router", router: { name: "edge" } } as const;
  const isOpen = state === "NEW" || state === "RUNNING";
  return {
    ...builtIn,
    id,
    state,
    project_id: project,
    created_on: timeOf(at),
    finished_on: isOpen ? null : timeOf(2 * at),
    acknowledged_at: isAcknowledged ? timeOf(at) : null,
    plan: isOpen ? { startsAtMs: at, endsAtMs: at + 5, work } : null,
  };
};

const anyTask = fc
  .record<Traits>({
    id: fc.constantFrom(..."abcdefghij"),
    state: fc.constantFrom("NEW", "RUNNING", "FINISHED", "ERROR"),
    at: fc.nat({ max: 9 }),
    project: fc.constantFrom(1, 2),
    isAcknowledged: fc.boolean(),
  })
  .map(taskOf);

const anyChange = fc.oneof(
  { weight: 4, arbitrary: anyTask },
  { weight: 1, arbitrary: fc.constantFrom(..."abcdefghij") },
);

const byTime =
  (timeOf: (task: TaskRecord) => number) =>
  (a: TaskRecord, b: TaskRecord): number =>
    timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1);

/** An index after some changes, and the tasks that it should hold. */
const indexed = (first: readonly TaskRecord[], changes: readonly (TaskRecord | string)[]) => {
  const index = createTaskIndex(first);
  const known = new Map(first.map((task) => [task.id, task]));
  for (const change of changes) {
    if (typeof change === "string") {
      index.forget(change);
      known.delete(change);
    } else {
      index.note(change);
      known.set(change.id, change);
    }
  }
  return { index, tasks: [...known.values()] };
};

const anyIndex = fc.tuple(fc.array(anyTask), fc.array(anyChange)).map((given) => indexed(...given));
const RUN = { seed: 20260101, numRuns: 500 };

test("after any changes of tasks, the task due next has the earliest instant of all unfinished ones", () => {
  fc.assert(
    fc.property(anyIndex, ({ index, tasks }) => {
      const nextOf = ({ state, plan }: TaskRecord) =>
        (state === "NEW" ? plan?.startsAtMs : plan?.endsAtMs) ?? Number.POSITIVE_INFINITY;
      const [next] = tasks.filter(({ plan }) => plan !== null).sort(byTime(nextOf));

      expect(index.nextDue()).toEqual(next);
      expect(index.nextDueAt()).toBe(next ? nextOf(next) : Number.POSITIVE_INFINITY);
    }),
    RUN,
  );
});

const anyQuery = fc.record({
  states: fc.subarray(["NEW", "RUNNING", "FINISHED", "ERROR"] as const),
  project: fc.constantFrom(undefined, 1, 2),
  isAcknowledged: fc.constantFrom(undefined, true, false),
  from: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
  to: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
  isNewestFirst: fc.boolean(),
  offset: fc.nat({ max: 4 }),
  limit: fc.integer({ min: 1, max: 4 }),
});

test("a page has the tasks of the wanted groups and times, in order, and counts all of them", () => {
  fc.assert(
    fc.property(anyIndex, anyQuery, ({ index, tasks }, query) => {
      const isWanted = ({ state, project_id, isAcknowledged }: TaskGroup): boolean =>
        query.states.includes(state) &&
        (query.project ?? project_id) === project_id &&
        (query.isAcknowledged ?? isAcknowledged) === isAcknowledged;
      const [from, to] = [query.from, query.to].map((second) => second && 1000 * second);
      const createdAt = (task: TaskRecord) => Date.parse(task.created_on);
      const found = tasks
        .filter((task) => isWanted({ ...task, isAcknowledged: task.acknowledged_at !== null }))
        .filter((task) => createdAt(task) >= (from ?? 0) && createdAt(task) <= (to ?? 1e9))
        .sort(byTime(createdAt));
      const ordered = query.isNewestFirst ? found.toReversed() : found;

      expect(index.list({ ...query, isWanted, from, to })).toEqual({
        count: found.length,
        tasks: ordered.slice(query.offset, query.offset + query.limit),
      });
    }),
    RUN,
  );
});

test("the tasks beyond a number are those that ended first", () => {
  fc.assert(
    fc.property(anyIndex, fc.nat({ max: 5 }), ({ index, tasks }, kept) => {
      const ended = tasks
        .filter(({ finished_on }) => finished_on !== null)
        .sort(byTime(({ finished_on }) => Date.parse(finished_on ?? "")));

      expect(index.endedBeyond(kept, 3)).toEqual(
        ended.slice(0, Math.max(0, Math.min(3, ended.length - kept))),
      );
    }),
    RUN,
  );
});
