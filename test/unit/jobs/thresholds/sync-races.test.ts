import { expect, test } from "vitest";
import { createThresholdWorld, event } from "./threshold-world.ts";

const X = "thresholds:\n  - { name: reaching_used_space, bucket_name: photos, bytes: 999 }\n";
const Y = X.replace("999", "500");
const EVENTS = [event("reaching_used_space", "photos", { bytes: "500" })];
const FIRST = { eventId: "first", sequencer: "01" };
const SECOND = { eventId: "second", sequencer: "02" };
const TICK = { kind: "schedule", eventId: "tick" } as const;
const MINUTE_MS = 60_000;

/** Runs an action once, just before the first port call with a name that begins with the given text. */
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

/** A run with Lambda's retries: after one minute, and after two more. */
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

test("an edit that is reverted while a sync applies it ends in the newest config's state", async () => {
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
  expect(world.publishedOf("ThresholdsDrifted")).toEqual([]);
});

test("a run that has read an older config does not undo the changes of a newer one", async () => {
  const hook = before("ledger.read thresholds#local");
  const world = await createThresholdWorld({ around: hook.around, config: X });
  await world.sync(FIRST);
  hook.set(async () => {
    world.source.write(Y);
    await world.sync(SECOND);
  });

  await expect(world.sync(TICK)).rejects.toThrow("the config was replaced during this sync");

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
});

test("a run's changes are published even if another run reads the state before they are recorded", async () => {
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

  expect(world.publishedOf("ThresholdsSynced").map(({ data }) => data.counts.created)).toEqual([1]);
});

test("a sync without changes succeeds only if no other sync changed the record meanwhile", async () => {
  const hook = before("fetch GET");
  const world = await createThresholdWorld({ around: hook.around, config: X });
  await world.sync(FIRST);
  hook.set(async () => {
    world.source.write(Y);
    await world.sync(SECOND);
    world.source.write(X);
    await world.sync({ eventId: "third", sequencer: "03" });
  });

  await expect(world.sync(TICK)).rejects.toThrow("has changed the record of these thresholds");
});

test("an event id keeps one content even if a tick is redelivered after a comment was edited", async () => {
  const world = await createThresholdWorld({ config: X });
  await world.sync(FIRST);

  await world.sync(TICK);
  world.source.write(`# a comment\n${X}`);
  await world.sync(TICK);

  // The bus of this world throws if two events with the same id differ.
  expect(world.publishedOf("ThresholdsSynced")).toHaveLength(3);
});
