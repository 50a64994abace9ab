import { expect, test } from "vitest";
import { createThresholdWorld, event } from "./threshold-world.ts";

const X = "thresholds:\n  - { name: reaching_used_space, bucket_name: photos, bytes: 999 }\n";
const Y = X.replace("999", "500");
const EVENTS = [event("reaching_used_space", "photos", { bytes: "500" })];
const FIRST = { eventId: "first", sequencer: "01" };
const SECOND = { eventId: "second", sequencer: "02" };
const TICK = { kind: "schedule", eventId: "tick" } as const;
const MINUTE_MS = 60_000;

/** Lets something happen once, just before the first call of a port whose name begins so. */
const before = (name: string) => {
  let happens: (() => Promise<unknown>) | undefined;
  return {
    set: (next: () => Promise<unknown>): void => {
      happens = next;
    },
    around: async <T>(call: { readonly name: string }, effect: () => Promise<T>): Promise<T> => {
      if (happens && call.name.startsWith(name)) {
        const now = happens;
        happens = undefined;
        await now();
      }
      return effect();
    },
  };
};

type World = Awaited<ReturnType<typeof createThresholdWorld>>;

/** A run, and what Lambda does when it fails: the same again after a minute, and after two more. */
const runToTheEnd = async (world: World, cause: Parameters<World["sync"]>[0]): Promise<void> => {
  for (const afterMs of [MINUTE_MS, 2 * MINUTE_MS]) {
    const isDone = await world.sync(cause).then(
      () => true,
      () => false,
    );
    if (isDone) return;
    await world.clock.advance(afterMs);
  }
  await world.sync(cause).catch(() => {});
};

test("an edit that is taken back while it is being applied ends as the newest config wants", async () => {
  const hook = before("fetch PUT");
  const world = await createThresholdWorld({ around: hook.around, config: X, events: EVENTS });
  hook.set(async () => {
    world.source.write(Y);
    await expect(world.sync(SECOND)).rejects.toThrow("another sync of the same thresholds");
  });

  await runToTheEnd(world, FIRST);
  await runToTheEnd(world, SECOND);

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  await world.sync(TICK);
  expect(world.toldOf("ThresholdsDrifted")).toEqual([]);
});

test("a run that holds the text of an older config does not undo what a newer one has brought", async () => {
  const hook = before("ledger.read thresholds#local");
  const world = await createThresholdWorld({ around: hook.around, config: X });
  await world.sync(FIRST);
  hook.set(async () => {
    world.source.write(Y);
    await world.sync(SECOND);
  });

  await expect(world.sync(TICK)).rejects.toThrow("written anew");

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
});

test("what a run has changed is published although another one reads before that is recorded", async () => {
  let writes = 0;
  let another: (() => Promise<unknown>) | undefined;
  const world = await createThresholdWorld({
    config: X,
    async around(call, effect) {
      if (call.name === "ledger.write thresholds#local") writes += 1;
      // The second write is the record of the end.
      const happens = writes === 2 ? another : undefined;
      if (happens) another = undefined;
      await happens?.();
      return effect();
    },
  });
  another = () => world.sync(TICK).catch(() => {});

  await world.sync(FIRST);

  expect(world.toldOf("ThresholdsSynced").map(({ data }) => data.counts.created)).toEqual([1]);
});

test("a sync with nothing to change says so only if nothing was changed meanwhile", async () => {
  const hook = before("fetch GET");
  const world = await createThresholdWorld({ around: hook.around, config: X });
  await world.sync(FIRST);
  hook.set(async () => {
    world.source.write(Y);
    await world.sync(SECOND);
    world.source.write(X);
    await world.sync({ eventId: "third", sequencer: "03" });
  });

  await expect(world.sync(TICK)).rejects.toThrow("has changed in the meantime");
});

test("one event id has one content although a tick comes again after a comment was edited", async () => {
  const world = await createThresholdWorld({ config: X });
  await world.sync(FIRST);

  await world.sync(TICK);
  world.source.write(`# a comment\n${X}`);
  await world.sync(TICK);

  // The bus of this world finds it out when two events with one id differ.
  expect(world.toldOf("ThresholdsSynced")).toHaveLength(3);
});
