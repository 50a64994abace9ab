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
  const [synced] = world.toldOf("ThresholdsSynced");
  expect(synced?.data.counts).toMatchObject({ created: 1, failed: 0, left: 0 });
});

test.each(LOSSES)("an update whose %s is sent again", async (loss) => {
  const events = [event("reaching_used_space", "photos", { bytes: "1" })];
  const world = await createThresholdWorld({ config: ONE, events });
  world.faults.strike(loss);

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.toldOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({ updated: 1, left: 0 });
});

test.each(LOSSES)("a deletion whose %s is done, also when it was done already", async (loss) => {
  const events = [
    event("reaching_used_space", "photos", { bytes: "500" }),
    event("reaching_used_space", "old", { bytes: "1" }),
  ];
  const world = await createThresholdWorld({ config: ONE, events });
  world.faults.strike(loss);

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.toldOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({ deleted: 1, left: 0 });
});

test("a threshold that another client made after the list was read is updated", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.meanwhile(() =>
    world.atProvider("POST", { name: "reaching_used_space", bucket_name: "photos", bytes: 1 }),
  );

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.methods()).toEqual(["GET", "POST", "PUT"]);
});

test("a threshold that another client deleted after the list was read is created", async () => {
  const events = [event("reaching_used_space", "photos", { bytes: "1" })];
  const world = await createThresholdWorld({ config: ONE, events });
  world.meanwhile(() =>
    world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "photos" }),
  );

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - photos 500"]);
  expect(world.methods()).toEqual(["GET", "PUT", "POST"]);
});

test("a provider that asks for a pause is given it, and nothing is lost", async () => {
  const world = await createThresholdWorld({ config: MANY });
  const startedAt = world.clock.now();
  world.faults.strike("is throttled", "is throttled");

  await world.sync();

  expect(await world.actual()).toHaveLength(20);
  expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(7_000);
  expect(world.toldOf("ThresholdsSynced")[0]?.data.outcome).toBe("complete");
});

test("a provider that is away leaves the rest, says so, and the next sync finishes it", async () => {
  const world = await createThresholdWorld({ config: MANY });
  const away = Array.from({ length: 8 * EVERY_TRY }, () => "the key is refused" as const);
  world.faults.strike(...away);

  await expect(world.sync()).rejects.toThrow(UnfinishedSyncError);
  const actual = await world.actual();
  await world.sync();

  expect(actual).toEqual([]);
  expect(await world.actual()).toHaveLength(20);
  expect(world.toldOf("ThresholdsSynced").map(({ data }) => [data.outcome, data.counts])).toEqual([
    ["partial", { created: 0, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 20 }],
    ["complete", { created: 20, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 0 }],
  ]);
});

test("a sync whose time is over publishes what it did, and the next one does the rest", async () => {
  const world = await createThresholdWorld({ config: MANY, requestsPerSecond: 2 });

  await expect(world.sync({}, 5_000)).rejects.toThrow("the next sync goes on");
  const done = (await world.actual()).length;
  await world.sync();

  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(20);
  const [first, second] = world.toldOf("ThresholdsSynced").map(({ data }) => data);
  expect(first).toMatchObject({ outcome: "partial", counts: { created: done, left: 20 - done } });
  expect(second).toMatchObject({
    outcome: "complete",
    counts: { created: 20 - done, unchanged: done },
  });
});

test("a list that cannot be read ends the sync, and nothing is changed", async () => {
  const world = await createThresholdWorld({
    config: ONE,
    around: (call, effect) =>
      call.name.startsWith("fetch GET") ? Promise.reject(new TypeError("away")) : effect(),
  });

  await expect(world.sync()).rejects.toMatchObject({ disposition: "transient" });

  expect(await world.dueEntries()).toEqual([]);
  expect(world.bus.published()).toEqual([]);
});

test("an event that the bus does not take is published later, with the same id", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.bus.refuse(() => true);
  await world.sync();
  const due = await world.dueEntries();
  world.bus.refuse(() => false);

  await world.clock.advance(10_000);
  await world.poll();

  expect(due.map(({ key }) => key)).toEqual(["thresholds#local"]);
  expect(world.toldOf("ThresholdsSynced")).toHaveLength(1);
  expect(await world.dueEntries()).toEqual([]);
});

test("of two syncs at once one makes the changes, and the other says that it did not", async () => {
  const world = await createThresholdWorld({ config: MANY });

  const ends = await Promise.allSettled([world.sync(), world.sync()]);

  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await world.actual()).toHaveLength(20);
  expect(world.toldOf("ThresholdsSynced")).toHaveLength(1);
});

test("while another sync is at work nothing is changed, and after its death the next one continues", async () => {
  const faults = createFaults();
  const world = await createThresholdWorld({ config: MANY, around: faults.around });
  // Listed, leased, begun; the third request to the provider is the second change.
  const nth = 8;
  faults.strike(nth, "killed");
  await world.sync().catch(() => {});
  const killedAt = faults.calls[nth - 1];

  await expect(world.sync()).rejects.toThrow("another sync of the same thresholds is at work");
  const during = await world.actual();
  await world.clock.advance(120_000);
  await world.sync();

  expect(killedAt).toMatch(/^fetch POST/);
  expect(during.length).toBeLessThan(20);
  expect(await world.actual()).toHaveLength(20);
});

test("a run that was replaced by another one changes nothing more", async () => {
  const world = await createThresholdWorld({ config: MANY, requestsPerSecond: 2 });
  const lease = { name: "sync-thresholds/local", by: "another", durationMs: 600_000 };
  const { deps } = world.newInvocation();
  world.meanwhile(async () => {
    await world.clock.advance(120_000);
    await takeLease(deps, lease);
  });

  await expect(world.sync({}, 600_000)).rejects.toThrow("the next sync goes on");

  // The first was on its way meanwhile; each of the seven beside it had one more begun.
  expect((await world.actual()).length).toBeLessThanOrEqual(1 + 7 + 7);
});

test("a run that was replaced by one that has ended says so, and publishes nothing", async () => {
  const world = await createThresholdWorld({ config: MANY });
  world.meanwhile(async () => {
    await world.clock.advance(120_000);
    await world.sync();
  });

  await expect(world.sync({}, 600_000)).rejects.toThrow("another sync has taken over");
  await world.clock.advance(10_000);
  await world.poll();

  expect(world.toldOf("ThresholdsSynced")).toHaveLength(1);
  expect((await world.remembered())?.run).toBe(1 + 1);
  expect(await world.actual()).toHaveLength(20);
});

test("after a pause that outlasts its lease, a sync that another one has replaced sends nothing", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.faults.strike("is throttled for long");
  const lease = { name: "sync-thresholds/local", by: "another", durationMs: 600_000 };
  const { deps } = world.newInvocation();
  const taken = world.clock.sleep(121_000).then(() => takeLease(deps, lease));

  await expect(world.sync({}, 600_000)).rejects.toThrow("the next sync goes on");

  expect(await taken).toBeDefined();
  expect(world.methods()).toEqual(["GET", "POST"]);
  expect(world.toldOf("ThresholdsSynced")[0]?.data.changes).toMatchObject([
    { outcome: "left", problem: expect.stringContaining("lease") },
  ]);
});

test("a change without an answer is not repeated after a newer config was synced", async () => {
  const world = await createThresholdWorld({ config: ONE });
  const newer = ONE.replace("500", "700");
  world.meanwhile(async () => {
    // The attempt times out on the way.
    await world.clock.advance(120_000);
    world.source.write(newer);
    await world.sync();
  });

  await expect(world.sync({}, 600_000)).rejects.toThrow("another sync has taken over");

  expect(await world.actual()).toEqual(["reaching_used_space - photos 700"]);
});

test("a run whose view was overtaken by a whole other sync changes nothing", async () => {
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

  await expect(world.sync()).rejects.toThrow("has changed in the meantime");

  expect(world.methods()).toEqual([]);
  expect(await world.actual()).toHaveLength(20);
});

test("a create that is answered with yes in unknown words is done", async () => {
  const world = await createThresholdWorld({ config: ONE });
  world.faults.strike("it answers in unknown words");

  await world.sync();

  expect(world.methods()).toEqual(["GET", "POST"]);
  expect(world.toldOf("ThresholdsSynced")[0]?.data.outcome).toBe("complete");
});

const manyMore = (count: number): string =>
  `thresholds:\n${Array.from(
    { length: count },
    (_, n) => `  - { name: reaching_used_space, bucket_name: b${n}, bytes: 1 }\n`,
  ).join("")}`;

test("thresholds that are never answered stop no other, and are left", async () => {
  const world = await createThresholdWorld({ config: manyMore(200) });
  world.poison("b3", "b53", "b103", "b153");

  await expect(world.sync()).rejects.toThrow("the next sync goes on");

  expect(await world.actual()).toHaveLength(196);
  const [synced] = world.toldOf("ThresholdsSynced");
  expect(synced?.data.counts).toMatchObject({ created: 196, left: 4 });
  expect(synced?.data.changes[0]).toMatchObject({
    bucket_name: "b3",
    outcome: "left",
    problem: expect.stringContaining("500"),
  });
});

test("a provider that answers nothing is not asked for everything", async () => {
  const world = await createThresholdWorld({ config: manyMore(200) });
  world.poison("reaching_used_space");

  await expect(world.sync()).rejects.toThrow("the next sync goes on");

  // A list, and three sends for each of the eight at once and the few that followed.
  expect(world.methods().length).toBeLessThan(1 + 3 * (8 + 3));
  expect(world.toldOf("ThresholdsSynced")[0]?.data.counts).toMatchObject({ left: 200 });
});

test("what another client made meanwhile is published as updated, what may be our own as created", async () => {
  const theirs = await createThresholdWorld({ config: ONE });
  theirs.meanwhile(() =>
    theirs.atProvider("POST", { name: "reaching_used_space", bucket_name: "photos", bytes: 1 }),
  );
  const ours = await createThresholdWorld({ config: ONE });
  ours.faults.strike("fails after the effect");

  await theirs.sync();
  await ours.sync();

  const countsOf = (world: typeof ours) => world.toldOf("ThresholdsSynced")[0]?.data.counts;
  expect(countsOf(theirs)).toMatchObject({ created: 0, updated: 1 });
  expect(countsOf(ours)).toMatchObject({ created: 1, updated: 0 });
});

test("when the lease cannot be renewed nothing more is changed, and what was done is published", async () => {
  let isAway = false;
  const world = await createThresholdWorld({
    config: MANY,
    requestsPerSecond: 2,
    around: (call, effect) =>
      isAway && call.name.startsWith("ledger.read lease")
        ? Promise.reject(new Error("away"))
        : effect(),
  });
  world.meanwhile(async () => {
    await world.clock.advance(70_000);
    isAway = true;
  });

  await world.sync({}, 600_000).catch(() => {});

  const done = (await world.actual()).length;
  // The first was on its way meanwhile; each of the seven beside it had one more begun.
  expect(done).toBeLessThanOrEqual(1 + 7 + 7);
  expect(world.toldOf("ThresholdsSynced").map(({ data }) => data.counts)).toMatchObject([
    { created: done, left: 20 - done },
  ]);
});
