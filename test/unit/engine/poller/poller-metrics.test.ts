import { expect, test } from "vitest";
import { pollerLease } from "../../../../lib/engine/poller/poll.ts";
import { takeLease } from "../../../../lib/ledger/lease.ts";
import type { Around } from "../../../support/faults.ts";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider, startProvider } from "../../../support/provider.ts";
import { resumeInstance, updateContainer } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const FIVE_MINUTES_MS = 5 * 60 * 1000;

const throttled = () => scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "7" }) });
const following = () =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/": () => json(200, { id: "t1", state: "RUNNING" }),
  });
const finished = () =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/": () => json(200, { id: "t1", state: "FINISHED" }),
  });
const answering = () => scriptProvider({ "PATCH ": () => json(200, { tasks: [] }) });
/** How often a due entry was left, in each five minutes of a time span. */
const leftPerFiveMinutes = async (world: World, durationMs: number): Promise<readonly number[]> => {
  const counts: number[] = [];
  for (let passedMs = 0; passedMs < durationMs; passedMs += FIVE_MINUTES_MS) {
    const before = world.counted.length;
    await world.pass(FIVE_MINUTES_MS);
    const counted = world.counted.slice(before);
    counts.push(counted.filter((name) => name === "DueEntryLeft").length);
  }
  return counts;
};
const lags = (world: World) =>
  world.measured.filter(({ name }) => name === "LedgerLag").map(({ value }) => value);

test("a run that finds nothing is counted, with a lag of 0", async () => {
  const world = await createWorld({ provider: throttled });

  await world.poll();

  expect(world.counted).toEqual(["PollerRan"]);
  expect(world.measured).toEqual([{ name: "LedgerLag", value: 0, unit: "Seconds" }]);
});

test("the lag of the oldest due entry is measured in seconds", async () => {
  const world = await createWorld({ provider: throttled });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(19_500);

  await world.poll(1_000);

  expect(lags(world)).toEqual([12.5]);
});

test("an entry that becomes due during the run is not late", async () => {
  const world = await createWorld({ provider: throttled });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(5_000);

  await world.poll(10_000);

  expect(Math.max(...lags(world))).toBe(0);
});

test("a task that is followed for hours is not late", async () => {
  const world = await createWorld({ provider: following });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(31_000);
  await world.poll(1_000);
  await world.clock.advance(60 * 60 * 1000);

  await world.poll(1_000);

  expect((await world.command("c1"))?.state.status).toBe("following");
  expect(lags(world).at(-1)).toBe(0);
});

test("a task that has ended is late from then on, until its end is published", async () => {
  const world = await createWorld({ provider: finished });
  world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
  await world.handle(updateContainer("c1"));
  await world.clock.advance(2_000);
  await world.poll(1_000);
  await world.clock.advance(20_000);

  await world.poll(1_000);
  world.bus.refuse(() => false);
  await world.clock.advance(30_000);
  await world.poll(1_000);
  await world.poll(1_000);

  expect(lags(world)).toEqual([0, 20, 50, 0]);
});

test("a task with an end during the run that cannot be published was not late when the run began", async () => {
  const world = await createWorld({ provider: finished });
  world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
  await world.handle(updateContainer("c1"));
  await world.clock.advance(2_000);

  await world.poll(5_000);

  expect(lags(world)).toEqual([0]);
});

test("a command that is due at once, with a due time of 0, is not late", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: following, around: gate.around });
  const recording = gate.hold("ledger.write task#local/t1");
  const handling = world.handle(updateContainer("c1"));
  await recording.reached;

  await world.poll(1_000);
  recording.open();
  await handling;

  expect(lags(world)).toEqual([0]);
});

test("a run that finds the lease taken is counted too", async () => {
  const world = await createWorld({ provider: throttled });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(10_000);
  const { deps } = world.newInvocation();
  await takeLease(deps, { name: pollerLease(0), by: "another", durationMs: 10_000 });

  await world.poll(500);

  expect(world.counted).toEqual(["PollerRan"]);
  // Only the run with the lease knows what is handled late.
  expect(lags(world)).toEqual([]);
});

test("a run that crashes is not counted", async () => {
  const around: Around = ({ name }, effect) =>
    name === "ledger.listDue" ? Promise.reject(new Error("away")) : effect();
  const world = await createWorld({ provider: throttled, around });

  await world.poll();

  expect(world.errors).toHaveLength(1);
  expect(world.counted).toEqual([]);
  expect(world.measured).toEqual([]);
});

test("a completion is counted as left until it can be published", async () => {
  let isBusAway = true;
  const around: Around = ({ name }, effect) =>
    name === "bus.publish" && isBusAway ? Promise.reject(new Error("away")) : effect();
  const world = await createWorld({ provider: answering, around });
  await world.send(updateContainer("c1"));

  const whileAway = await leftPerFiveMinutes(world, 12 * FIVE_MINUTES_MS);
  isBusAway = false;
  await world.pass(FIVE_MINUTES_MS);
  const afterwards = await leftPerFiveMinutes(world, FIVE_MINUTES_MS);

  expect(whileAway.map((count) => count > 0)).toEqual(Array(12).fill(true));
  expect(Math.max(...lags(world))).toBeGreaterThan(3_000);
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  expect(afterwards).toEqual([0]);
});

test("nothing is counted as left while commands wait for each other and their tasks are followed", async () => {
  const world = await createWorld({ provider: (clock) => startProvider(clock, FIVE_MINUTES_MS) });
  await world.send(updateContainer("c1"));
  await world.send(updateContainer("c2"));
  await world.send(resumeInstance("c3", { after: ["c2"] }));

  await world.pass(12 * FIVE_MINUTES_MS);

  expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(3);
  expect(world.counted).not.toContain("DueEntryLeft");
  expect(Math.max(...lags(world))).toBeLessThan(60);
});
