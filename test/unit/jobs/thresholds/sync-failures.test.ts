import { expect, test } from "vitest";
import { UnfinishedSyncError } from "../../../../lib/jobs/thresholds/threshold-sync.ts";
import { takeLease } from "../../../../lib/ledger/lease.ts";
import { createFaults } from "../../../support/faults.ts";
import { LOSSES } from "../../../support/lost-replies.ts";
import { createThresholdWorld, event } from "./threshold-world.ts";

const ONE = `
prune: true
thresholds:
  - name: reaching_used_space
    bucket_name: photos
    bytes: 500
`;
const MANY = `thresholds:\n${Array.from(
  { length: 20 },
  (_, n) => `  - { name: reaching_used_space, bucket_name: b${n}, bytes: ${n} }\n`,
).join("")}`;
const EVERY_TRY = 5;

test.each(LOSSES)("a create whose %s never makes a second threshold", async (loss) => {
  const world = await createThresholdWorld({ config: ONE });
  world.faults.strike(loss);

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  const [synced] = world.publishedOf("ThresholdsSynced");
  expect(synced?.data.counts).toMatchObject({ created: 1, failed: 0, left: 0 });
});

test.each(LOSSES)("an update whose %s is sent again", async (loss) => {
  const events = [event("reaching_used_space", "photos", { bytes: "1" })];
  const world = await createThresholdWorld({ config: ONE, events });
  world.faults.strike(loss);

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.publishedOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({
    updated: 1,
    left: 0,
  });
});

test.each(LOSSES)(
  "a deletion whose %s is done, even if the threshold was gone already",
  async (loss) => {
    const events = [
      event("reaching_used_space", "photos", { bytes: "500" }),
      event("reaching_used_space", "old", { bytes: "1" }),
    ];
    const world = await createThresholdWorld({ config: ONE, events });
    world.faults.strike(loss);

    await world.sync();

    expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
    expect(world.publishedOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({
      deleted: 1,
      left: 0,
    });
  },
);

test("a threshold that another client created after the list was read is updated", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.meanwhile(() =>
    world.atProvider("POST", { name: "reaching_used_space", bucket_name: "photos", bytes: 1 }),
  );

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.methods()).toEqual(["GET", "POST", "PUT"]);
});

test("a threshold that another client deleted after the list was read is created again", async () => {
  const events = [event("reaching_used_space", "photos", { bytes: "1" })];
  const world = await createThresholdWorld({ config: ONE, events });
  world.meanwhile(() =>
    world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "photos" }),
  );

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.methods()).toEqual(["GET", "PUT", "POST"]);
});

test("a sync waits for the pause that the provider asks for, and loses no change", async () => {
  const world = await createThresholdWorld({ config: MANY });
  const startedAt = world.clock.now();
  world.faults.strike("is throttled", "is throttled");

  await world.sync();

  expect(await world.actual()).toHaveLength(20);
  expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(7_000);
  expect(world.publishedOf("ThresholdsSynced")[0]?.data.outcome).toBe("complete");
});

test("an unreachable provider leaves the remaining changes to the next sync, and the event reports them", async () => {
  const world = await createThresholdWorld({ config: MANY });
  const away = Array.from({ length: 8 * EVERY_TRY }, () => "the key is refused" as const);
  world.faults.strike(...away);

  await expect(world.sync()).rejects.toThrow(UnfinishedSyncError);
  const actual = await world.actual();
  await world.sync();

  expect(actual).toEqual([]);
  expect(await world.actual()).toHaveLength(20);
  expect(
    world.publishedOf("ThresholdsSynced").map(({ data }) => [data.outcome, data.counts]),
  ).toEqual([
    ["partial", { created: 0, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 20 }],
    ["complete", { created: 20, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 0 }],
  ]);
});

test("a sync that runs out of time publishes its changes, and the next one makes the rest", async () => {
  const world = await createThresholdWorld({ config: MANY, requestsPerSecond: 2 });

  await expect(world.sync({}, 5_000)).rejects.toThrow("the next sync makes them");
  const done = (await world.actual()).length;
  await world.sync();

  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(20);
  const [first, second] = world.publishedOf("ThresholdsSynced").map(({ data }) => data);
  expect(first).toMatchObject({ outcome: "partial", counts: { created: done, left: 20 - done } });
  expect(second).toMatchObject({
    outcome: "complete",
    counts: { created: 20 - done, unchanged: done },
  });
});

test("an unreadable list ends the sync without a change", async () => {
  const world = await createThresholdWorld({
    config: ONE,
    around: (call, effect) =>
      call.name.startsWith("fetch GET") ? Promise.reject(new TypeError("away")) : effect(),
  });

  await expect(world.sync()).rejects.toMatchObject({ disposition: "transient" });

  expect(await world.dueEntries()).toEqual([]);
  expect(world.bus.published()).toEqual([]);
});

test("an event that the bus refuses is published later, with the same id", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.bus.refuse(() => true);
  await world.sync();
  const due = await world.dueEntries();
  world.bus.refuse(() => false);

  await world.clock.advance(10_000);
  await world.poll();

  expect(due.map(({ key }) => key)).toEqual(["thresholds#local"]);
  expect(world.publishedOf("ThresholdsSynced")).toHaveLength(1);
  expect(await world.dueEntries()).toEqual([]);
});

test("of two syncs at once, one makes the changes and the other fails", async () => {
  const world = await createThresholdWorld({ config: MANY });

  const ends = await Promise.allSettled([world.sync(), world.sync()]);

  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await world.actual()).toHaveLength(20);
  expect(world.publishedOf("ThresholdsSynced")).toHaveLength(1);
});

test("a sync changes nothing while another one runs, and continues after the other one has died", async () => {
  const faults = createFaults();
  const world = await createThresholdWorld({ config: MANY, around: faults.around });
  // After the list, the lease and the record of the start, the third request is the second change.
  const nth = 8;
  faults.strike(nth, "killed");
  await world.sync().catch(() => {});
  const killedAt = faults.calls[nth - 1];

  await expect(world.sync()).rejects.toThrow("another sync of the same thresholds is running");
  const during = await world.actual();
  await world.clock.advance(120_000);
  await world.sync();

  expect(killedAt).toMatch(/^fetch POST/);
  expect(during.length).toBeLessThan(20);
  expect(await world.actual()).toHaveLength(20);
});

/** An invocation on a machine that can be suspended: its clock jumps, and nothing of it runs meanwhile. */
const onLaptop = (world: Awaited<ReturnType<typeof createThresholdWorld>>) => {
  const { deps, ...invocation } = world.newInvocation();
  let suspendedMs = 0;
  const clock = { ...deps.clock, now: () => deps.clock.now() + suspendedMs };
  const suspend = (durationMs: number): void => {
    suspendedMs += durationMs;
  };
  return { invocation: { ...invocation, deps: { ...deps, clock } }, suspend };
};

test("a run that another one has replaced makes no further change", async () => {
  const world = await createThresholdWorld({ config: MANY, requestsPerSecond: 2 });
  const lease = { name: "sync-thresholds/local", by: "another", durationMs: 600_000 };
  const { invocation, suspend } = onLaptop(world);
  world.meanwhile(async () => {
    suspend(120_000);
    await takeLease(invocation.deps, lease);
  });

  await expect(world.sync({}, 600_000, invocation)).rejects.toThrow("the next sync makes them");

  // The first change was under way; each of the seven others at once may have begun one more.
  expect((await world.actual()).length).toBeLessThanOrEqual(1 + 7 + 7);
});

test("a run that was replaced by a run that has ended fails, and publishes nothing", async () => {
  const world = await createThresholdWorld({ config: MANY });
  world.meanwhile(async () => {
    await world.clock.advance(120_000);
    await world.sync();
  });

  await expect(world.sync({}, 600_000)).rejects.toThrow("another sync has taken over");
  await world.clock.advance(10_000);
  await world.poll();

  expect(world.publishedOf("ThresholdsSynced")).toHaveLength(1);
  expect((await world.remembered())?.run).toBe(1 + 1);
  expect(await world.actual()).toHaveLength(20);
});

test("after a pause that outlasts its lease, a sync that another one has replaced sends nothing", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.faults.strike("is throttled for long");
  const lease = { name: "sync-thresholds/local", by: "another", durationMs: 600_000 };
  const { deps } = world.newInvocation();
  const taken = world.clock.sleep(121_000).then(() => takeLease(deps, lease));

  await expect(world.sync({}, 600_000)).rejects.toThrow("the next sync makes them");

  expect(await taken).toBeDefined();
  expect(world.methods()).toEqual(["GET", "POST"]);
  expect(world.publishedOf("ThresholdsSynced")[0]?.data.changes).toMatchObject([
    { outcome: "left", problem: expect.stringContaining("lease") },
  ]);
});

test("an unanswered change is not repeated after a newer config was synced", async () => {
  const world = await createThresholdWorld({ config: ONE });
  const newer = ONE.replace("500", "700");
  world.meanwhile(async () => {
    // The attempt times out meanwhile.
    await world.clock.advance(120_000);
    world.source.write(newer);
    await world.sync();
  });

  await expect(world.sync({}, 600_000)).rejects.toThrow("another sync has taken over");

  expect(await world.actual()).toEqual(["reaching_used_space - photos 700"]);
});

test("a run makes no change if a whole other sync ended after it read its state", async () => {
  let overtake: (() => Promise<void>) | undefined;
  const world = await createThresholdWorld({
    config: MANY,
    async around(call, effect) {
      const answer = await effect();
      const happens = call.name.startsWith("fetch GET") ? overtake : undefined;
      if (happens) overtake = undefined;
      await happens?.();
      return answer;
    },
  });
  overtake = async () => {
    await world.sync();
    world.methods();
  };

  await expect(world.sync()).rejects.toThrow("has changed the record of these thresholds");

  expect(world.methods()).toEqual([]);
  expect(await world.actual()).toHaveLength(20);
});

test("a create that is accepted with an unreadable reply is done", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.faults.strike("it answers in unknown words");

  await world.sync();

  expect(world.methods()).toEqual(["GET", "POST"]);
  expect(world.publishedOf("ThresholdsSynced")[0]?.data.outcome).toBe("complete");
});

const manyMore = (count: number): string =>
  `thresholds:\n${Array.from(
    { length: count },
    (_, n) => `  - { name: reaching_used_space, bucket_name: b${n}, bytes: 1 }\n`,
  ).join("")}`;

test("changes that are never answered stop no other, and are left", async () => {
  const world = await createThresholdWorld({ config: manyMore(200) });
  world.poison("b3", "b53", "b103", "b153");

  await expect(world.sync()).rejects.toThrow("the next sync makes them");

  expect(await world.actual()).toHaveLength(196);
  const [synced] = world.publishedOf("ThresholdsSynced");
  expect(synced?.data.counts).toMatchObject({ created: 196, left: 4 });
  expect(synced?.data.changes[0]).toMatchObject({
    bucket_name: "b3",
    outcome: "left",
    problem: expect.stringContaining("500"),
  });
});

test("a provider that never answers is not sent every change", async () => {
  const world = await createThresholdWorld({ config: manyMore(200) });
  world.poison("reaching_used_space");

  await expect(world.sync()).rejects.toThrow("the next sync makes them");

  // The list, and three sends for each of the first eight changes and of the few after them.
  expect(world.methods().length).toBeLessThan(1 + 3 * (8 + 3));
  expect(world.publishedOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({ left: 200 });
});

test("a threshold that another client created meanwhile is published as updated, a possible creation of ours as created", async () => {
  const theirs = await createThresholdWorld({ config: ONE });
  theirs.meanwhile(() =>
    theirs.atProvider("POST", { name: "reaching_used_space", bucket_name: "photos", bytes: 1 }),
  );
  const ours = await createThresholdWorld({ config: ONE });
  ours.faults.strike("fails after the effect");

  await theirs.sync();
  await ours.sync();

  const countsOf = (world: typeof ours) => world.publishedOf("ThresholdsSynced")[0]?.data.counts;
  expect(countsOf(theirs)).toMatchObject({ created: 0, updated: 1 });
  expect(countsOf(ours)).toMatchObject({ created: 1, updated: 0 });
});

test("a sync that cannot renew its lease makes no further change, and publishes those made", async () => {
  let isAway = false;
  const world = await createThresholdWorld({
    config: MANY,
    requestsPerSecond: 2,
    around: (call, effect) =>
      isAway && call.name.startsWith("ledger.write lease")
        ? Promise.reject(new Error("away"))
        : effect(),
  });
  const { invocation, suspend } = onLaptop(world);
  world.meanwhile(async () => {
    suspend(70_000);
    isAway = true;
  });

  await world.sync({}, 600_000, invocation).catch(() => {});

  const done = (await world.actual()).length;
  // The first change was under way; each of the seven others at once may have begun one more.
  expect(done).toBeLessThanOrEqual(1 + 7 + 7);
  expect(world.publishedOf("ThresholdsSynced").map(({ data }) => data.counts)).toMatchObject([
    { created: done, left: 20 - done },
  ]);
});
