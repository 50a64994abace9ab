import { setImmediate as letOthersRun } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BatchItem, runBatch } from "../../../../lib/platform/lambda/batch.ts";

/** Items with observable runs that last until the test ends them. */
const createItems = () => {
  const started: string[] = [];
  const endings = new Map<string, (error?: Error) => void>();
  const item = (id: string, lane?: string): BatchItem => ({
    id,
    lane,
    run: () => {
      started.push(id);
      return new Promise((resolve, reject) => {
        endings.set(id, (error) => (error ? reject(error) : resolve()));
      });
    },
  });
  const end = async (id: string, error?: Error): Promise<void> => {
    endings.get(id)?.(error);
    await letOthersRun();
  };
  return { started, item, end };
};

const always = (): boolean => true;

describe("a batch", () => {
  it("runs lanes in parallel, and the items of a lane in order", async () => {
    const { started, item, end } = createItems();
    const batch = runBatch([item("a1", "a"), item("a2", "a"), item("b1", "b")], always);

    const atFirst = [...started];
    await end("a1");
    const afterTheFirst = [...started];
    await end("a2");
    await end("b1");

    expect(atFirst).toEqual(["a1", "b1"]);
    expect(afterTheFirst).toEqual(["a1", "b1", "a2"]);
    expect(await batch).toEqual({ failedIds: [], errors: [] });
  });

  it("runs items without a lane in parallel, also when an id looks like a lane", async () => {
    const { started, item, end } = createItems();
    const batch = runBatch([item("x"), item("y"), item("z", "x")], always);

    const atFirst = [...started];
    for (const id of ["x", "y", "z"]) await end(id);

    expect(atFirst).toEqual(["x", "y", "z"]);
    expect((await batch).failedIds).toEqual([]);
  });

  it("stops a lane at its first failure and continues the others", async () => {
    const { started, item, end } = createItems();
    const batch = runBatch(
      [item("a1", "a"), item("b1", "b"), item("a2", "a"), item("b2", "b"), item("a3", "a")],
      always,
    );
    const failure = new Error("a2 failed");

    await end("a1");
    await end("b1");
    await end("a2", failure);
    await end("b2");

    expect(await batch).toEqual({ failedIds: ["a2", "a3"], errors: [failure] });
    expect(started).not.toContain("a3");
  });

  it("starts nothing when the time is short, and returns the rest without an error", async () => {
    const { started, item, end } = createItems();
    let hasTime = true;
    const batch = runBatch(
      [item("a1", "a"), item("a2", "a"), item("a3", "a"), item("b1", "b")],
      () => hasTime,
    );

    hasTime = false;
    await end("a1");
    await end("b1");

    expect(await batch).toEqual({ failedIds: ["a2", "a3"], errors: [] });
    expect(started).toEqual(["a1", "b1"]);
  });

  it("treats a synchronous exception as a failure", async () => {
    const failure = new Error("not even started");
    const broken: BatchItem = {
      id: "a1",
      lane: "a",
      run: () => {
        throw failure;
      },
    };

    expect(await runBatch([broken], always)).toEqual({ failedIds: ["a1"], errors: [failure] });
  });

  it("returns nothing for an empty batch", async () => {
    expect(await runBatch([], always)).toEqual({ failedIds: [], errors: [] });
  });
});

interface Plan {
  readonly lane: string | undefined;
  readonly fails: boolean;
  readonly turns: number;
}

describe("a batch of any shape", () => {
  const itemArbitrary = fc.record({
    lane: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }),
    fails: fc.boolean(),
    turns: fc.nat({ max: 3 }),
  });

  it("returns exactly the unfinished items of its lanes, whichever items fail or are slow", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(itemArbitrary, { maxLength: 10 }), async (plan) => {
        const started: number[] = [];
        const running = new Set<string>();
        let overlaps = 0;
        const runOf = async (index: number, { lane, fails, turns }: Plan): Promise<void> => {
          const key = lane ?? `alone ${index}`;
          started.push(index);
          overlaps += running.has(key) ? 1 : 0;
          running.add(key);
          for (let turn = 0; turn < turns; turn += 1) await letOthersRun();
          running.delete(key);
          if (fails) throw new Error(`item ${index}`);
        };
        const items = plan.map(
          (each, index): BatchItem => ({
            id: `m${index}`,
            lane: each.lane,
            run: () => runOf(index, each),
          }),
        );

        const { failedIds, errors } = await runBatch(items, always);

        // Model: an item is done unless it, or an earlier item of its lane, fails.
        const isDone = (index: number): boolean =>
          !plan.some(
            ({ lane, fails }, other) =>
              fails &&
              (other === index ||
                (other < index && lane !== undefined && lane === plan[index]?.lane)),
          );
        const undone = plan.map((_, index) => index).filter((index) => !isDone(index));
        expect([...failedIds].sort()).toEqual(undone.map((index) => `m${index}`).sort());
        expect(overlaps).toBe(0);
        expect(errors).toHaveLength(started.filter((index) => plan[index]?.fails).length);
        expect(new Set(started).size).toBe(started.length);
      }),
    );
  });

  it("starts no item after its time, and returns every item that it did not start", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", undefined), { maxLength: 10 }),
        fc.nat({ max: 10 }),
        async (lanes, looks) => {
          let left = looks;
          const started: string[] = [];
          const items = lanes.map((lane, index): BatchItem => {
            const id = `m${index}`;
            return { id, lane, run: async () => void started.push(id) };
          });

          const { failedIds } = await runBatch(items, () => {
            left -= 1;
            return left >= 0;
          });

          expect(started.length).toBeLessThanOrEqual(looks);
          expect([...failedIds, ...started].sort()).toEqual(items.map(({ id }) => id).sort());
        },
      ),
    );
  });
});
