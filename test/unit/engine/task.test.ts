import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as machine from "../../../lib/engine/task.ts";

type Task = machine.Task;

const open: Task = {
  account: "local",
  id: "t1",
  command: "own/c1",
  operation: "update-container",
  recordedAt: 1_000,
  deadline: 7_201_000,
  lookAt: 3_000,
  state: { status: "open" },
};

const STEPS: Readonly<Record<string, (task: Task, now: number) => Task>> = {
  finish: (task, now) => machine.endTask(task, { status: "finished" }, now),
  fail: (task, now) => machine.endTask(task, { status: "failed", message: "no" }, now),
  lose: (task, now) => machine.endTask(task, { status: "unknown" }, now),
  tell: (task) =>
    "told" in task.state ? machine.recordEnd(task, { ...task.state, told: true }) : task,
  abandon: machine.abandonTask,
  miss: (task, now) => machine.markMissing(task, now),
  meet: machine.markFound,
};

const course = fc.array(fc.constantFrom(...Object.keys(STEPS)), { maxLength: 12 });

test("the first end of a task stays, and the task is due until its end is reported", () => {
  void fc.assert(
    fc.property(course, (names) => {
      let task = open;
      for (const [index, name] of names.entries()) {
        const before = task;
        task = STEPS[name]!(task, 5_000 + index);
        if (before.state.status !== "open") {
          expect({ ...task.state, told: 0 }).toEqual({ ...before.state, told: 0 });
        }
        const { state } = task;
        const isOver = state.status === "abandoned" || ("told" in state && state.told);
        expect(machine.tasks.dueAt(task) === undefined).toBe(isOver);
      }
    }),
  );
});

test("a task that was missing and is found again starts a new absence", () => {
  const missing = machine.markMissing(open, 4_000);

  const seen = machine.markFound(missing);

  expect(missing.state).toEqual({ status: "open", missingSince: 4_000, missingAt: 4_000 });
  expect(seen.state).toEqual({ status: "open" });
});

test("a task is missing since the first of several checks that are not far apart", () => {
  const first = machine.markMissing(open, 4_000);
  const second = machine.markMissing(first, 124_000);

  expect(machine.missingSince(second, 244_000)).toBe(4_000);
  expect(machine.missingSince(second, 244_001)).toBe(244_001);
});

test("finding a task that was not missing changes nothing", () => {
  expect(machine.markFound(open)).toBe(open);
});

test("a task that another command got too keeps its item", () => {
  const shared = machine.markShared(open);

  expect(shared.sharedAs).toBe("first");
  expect(machine.markShared(shared)).toBe(shared);
  expect(machine.taskKey(shared)).toBe("local/t1");
});

test.each([[{ followedBy: "team" }], [{ sharedAs: "other" } as const]])(
  "a task with %j has an item beside the first",
  (fields) => {
    expect(machine.taskKey({ ...open, ...fields })).toBe("local/t1/own/c1");
  },
);

test("two accounts may have tasks of the same id", () => {
  expect(machine.taskKey({ account: "a", id: "t1" })).toBe("a/t1");
  expect(machine.taskKey({ account: "b", id: "t1" })).toBe("b/t1");
});
