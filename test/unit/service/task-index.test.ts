import fc from "fast-check";
import { expect, test } from "vitest";
import { createTaskIndex } from "../../../lib/service/records.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import type { TaskRecord } from "../../../lib/service/state/tasks.ts";

const [ended] = builtInState().tasks;

const taskOf = (id: string, state: "NEW" | "RUNNING" | "FINISHED", at: number): TaskRecord => {
  if (ended === undefined) throw new Error("the built-in state has no task");
  const work = { kind: "create-router", router: { name: "edge" } } as const;
  const plan = { startsAtMs: at, endsAtMs: at + 5, work };
  return { ...ended, id, state, plan: state === "FINISHED" ? null : plan };
};

const anyTask = fc
  .tuple(
    fc.constantFrom("a", "b", "c"),
    fc.constantFrom("NEW", "RUNNING", "FINISHED"),
    fc.nat({ max: 9 }),
  )
  .map((parts) => taskOf(...parts));

test("whatever becomes of tasks, the next instant is the earliest of those that have not ended", () => {
  const looked = fc.record({ task: anyTask, looks: fc.boolean() });
  fc.assert(
    fc.property(fc.array(anyTask), fc.array(looked, { maxLength: 12 }), (first, changes) => {
      const known = new Map(first.map((task) => [task.id, task]));
      const index = createTaskIndex(first);
      for (const { task, looks } of changes) {
        known.set(task.id, task);
        index.note(task);
        if (!looks) continue;
        const ahead = [...known.values()].flatMap(({ state, plan }) => {
          if (plan === null) return [];
          return state === "NEW" ? [plan.startsAtMs] : [plan.endsAtMs];
        });
        expect(index.nextDueAt()).toBe(Math.min(...ahead));
      }
      const unfinished = [...known.values()].filter(({ plan }) => plan !== null);
      expect(new Set(index.unfinished())).toEqual(new Set(unfinished));
    }),
    { seed: 20260101, numRuns: 300 },
  );
});
