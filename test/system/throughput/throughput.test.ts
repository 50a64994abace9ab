import { expect, test } from "vitest";
import { faultsOf, LOAD, runLoad } from "../../bench/throughput/run.ts";

/* The load of `npm run bench:throughput` for a moment. It counts, so it is the same in each run and on each machine. */

test("500 commands a second under AWS's limits all succeed, each once", async () => {
  const outcome = await runLoad({ ...LOAD, seconds: 1, taskMs: 5_000 });

  expect(faultsOf(outcome)).toEqual([]);
  expect(outcome).toMatchObject({ accepted: 500, succeeded: 500, redeliveries: 0 });
  // New machines all read the keys of all accounts.
  expect(outcome.throttled.get("secrets")).toBeGreaterThan(0);
});

test("a stage on one shard, in a region with few PutEvents, throttles more and loses nothing", async () => {
  const outcome = await runLoad({
    ...{ ...LOAD, perSecond: 250, seconds: 1, taskMs: 5_000, dueShards: 1 },
    limits: { writeUnits: 100, putEvents: 200 },
  });

  expect(faultsOf(outcome)).toEqual([]);
  expect([...outcome.throttled.keys()]).toEqual(
    expect.arrayContaining(["due index writes", "entries"]),
  );
});
