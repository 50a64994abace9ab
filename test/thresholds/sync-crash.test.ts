import { describe, expect, test } from "vitest";
import { createFaults, type FaultKind } from "../support/faults.ts";
import { createThresholdWorld, event } from "./threshold-world.ts";

const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: a, bytes: 1 }
  - { name: reaching_used_space, bucket_name: b, bytes: 2 }
  - { name: reaching_used_space, bucket_name: c, bytes: 3 }
`;
const NEXT = CONFIG.replace("bytes: 1", "bytes: 9").replace("bucket_name: c", "bucket_name: d");
const ENDS_AS = [
  "reaching_used_space - a 9",
  "reaching_used_space - b 2",
  "reaching_used_space - d 3",
];
/** Longer than a run may be at work. */
const LATER_MS = 10 * 60_000;
const KINDS: readonly FaultKind[] = ["killed", "fails before", "fails after"];

/** A sync that goes wrong at the nth call of a port, and what the platform does then: the same again. */
const runWith = async (
  canList: boolean,
  strike?: { readonly nth: number; readonly kind: FaultKind },
) => {
  const faults = createFaults();
  const world = await createThresholdWorld({
    around: faults.around,
    account: { canList },
    ...(canList && { events: [event("reaching_used_space", "unwanted", { bytes: "1" })] }),
    config: CONFIG,
  });
  await world.sync();
  const calmCalls = faults.calls.length;
  world.source.write(NEXT);
  if (strike) faults.strike(calmCalls + strike.nth, strike.kind);

  await world.sync({ eventId: "next" }).catch(() => {});
  const calls = faults.calls.slice(calmCalls);
  await world.clock.advance(LATER_MS);
  await world.sync({ eventId: "next" });
  await world.poll();
  return { world, calls };
};

describe.each([
  ["with lists", true],
  ["without lists", false],
])("a sync %s that goes wrong at any one call of a port", (_how, canList) => {
  test.each(KINDS)("ends as wanted when it is called again: %s", async (kind) => {
    const { calls } = await runWith(canList);
    expect(calls.length).toBeGreaterThan(8);

    for (const [index, call] of calls.entries()) {
      const { world } = await runWith(canList, { nth: index + 1, kind });

      const where = `${kind} at ${call}`;
      expect(await world.actual(), where).toEqual(ENDS_AS);
      expect(await world.dueEntries(), where).toEqual([]);
      expect(world.toldOf("ThresholdsSynced").length, where).toBeGreaterThanOrEqual(2);
      const [first] = world.toldOf("ThresholdsSynced").slice(-1);
      expect(first?.data.outcome, where).toBe("complete");
    }
  });
});

test("drift is told with one id at whatever call of a port the run is killed", async () => {
  const runDrift = async (nth?: number) => {
    const faults = createFaults();
    const world = await createThresholdWorld({ around: faults.around, config: CONFIG });
    await world.sync();
    await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "a" });
    const calmCalls = faults.calls.length;
    if (nth !== undefined) faults.strike(calmCalls + nth, "killed");
    await world.sync({ kind: "schedule", eventId: "tick" }).catch(() => {});
    const calls = faults.calls.length - calmCalls;
    await world.clock.advance(LATER_MS);
    await world.sync({ kind: "schedule", eventId: "tick" });
    await world.poll();
    return { world, calls };
  };
  const { calls } = await runDrift();

  for (let nth = 1; nth <= calls; nth += 1) {
    const { world } = await runDrift(nth);

    expect(world.toldOf("ThresholdsDrifted")).toHaveLength(1);
    expect(await world.actual()).toHaveLength(3);
  }
});

test.each(KINDS)("a run that goes wrong is finished by Lambda's own retries: %s", async (kind) => {
  // After a minute, and after two more. What lasts until then was long over.
  const retriesAfterMs = [60_000, 120_000];
  const runOnce = async (nth?: number) => {
    const faults = createFaults();
    const world = await createThresholdWorld({ around: faults.around, config: CONFIG });
    if (nth !== undefined) faults.strike(nth, kind);
    let isDone = await world.sync({ eventId: "e" }, 297_000).then(
      () => true,
      () => false,
    );
    const calls = faults.calls.length;
    for (const afterMs of retriesAfterMs) {
      await world.clock.advance(afterMs);
      if (isDone) continue;
      isDone = await world.sync({ eventId: "e" }, 297_000).then(
        () => true,
        () => false,
      );
    }
    return { world, calls };
  };
  const { calls } = await runOnce();

  for (let nth = 1; nth <= calls; nth += 1) {
    const { world } = await runOnce(nth);

    expect(await world.actual(), `call ${nth}`).toHaveLength(3);
  }
});
