import { expect, test } from "vitest";
import { breakLease } from "../../../../lib/ledger/lease.ts";
import { LOSSES } from "../../../support/lost-replies.ts";
import { createThresholdWorld, event } from "./threshold-world.ts";

const NO_LISTS = { canList: false };
const AMBIGUITY_WINDOW_MS = 300_000;
const configOf = (...buckets: readonly string[]): string =>
  `prune: true\nthresholds: [${buckets
    .map((name) => `{ name: reaching_used_space, bucket_name: ${name}, bytes: 500 }`)
    .join(", ")}]\n`;

test("without lists, a sync sends no list request and compares with the applied thresholds", async () => {
  const world = await createThresholdWorld({ config: configOf("a", "b"), account: NO_LISTS });

  await world.sync();
  const first = world.methods();
  world.source.write(
    configOf("b", "c").replace("bucket_name: b, bytes: 500", "bucket_name: b, bytes: 7"),
  );
  await world.sync();

  expect(first).toEqual(["POST", "POST"]);
  expect(world.methods().toSorted()).toEqual(["DELETE", "POST", "PUT"]);
  expect(await world.actual()).toEqual([
    "reaching_used_space - b 7",
    "reaching_used_space - c 500",
  ]);
  expect(world.publishedOf("ThresholdsSynced")[1]?.data).toMatchObject({
    actualFrom: "ledger",
    counts: { created: 1, updated: 1, deleted: 1, unchanged: 0 },
  });
});

test("a second sync without lists sends nothing at all", async () => {
  const world = await createThresholdWorld({ config: configOf("a", "b"), account: NO_LISTS });
  await world.sync();
  world.methods();

  await world.sync();

  expect(world.methods()).toEqual([]);
});

test("without lists, thresholds of other clients are never pruned", async () => {
  const events = [event("reaching_used_space", "theirs", { bytes: "1" })];
  const world = await createThresholdWorld({ config: configOf("a"), account: NO_LISTS, events });

  await world.sync();

  expect(await world.actual()).toContain("reaching_used_space - theirs 1");
});

test("without lists, an existing threshold is updated", async () => {
  const events = [event("reaching_used_space", "a", { bytes: "1" })];
  const world = await createThresholdWorld({ config: configOf("a"), account: NO_LISTS, events });

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - a 500"]);
});

test("with a client_id, the list of the key's own client is not read, and its thresholds stay", async () => {
  const events = [event("reaching_used_space", "own", { bytes: "1" })];
  const config = `client_id: 1\n${configOf("a")}`;
  const world = await createThresholdWorld({ config, events });

  await world.sync();

  expect(world.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /storage/notifications/v1/event?client_id=1",
  ]);
  expect(await world.actual()).toEqual([
    "reaching_used_space - a 500",
    "reaching_used_space - own 1",
  ]);
  expect(world.publishedOf("ThresholdsSynced")[0]?.data).toMatchObject({ clientId: "1" });
});

test("each client has a record of its own", async () => {
  const world = await createThresholdWorld({ config: `client_id: 1\n${configOf("a")}` });
  await world.sync();
  world.source.write(configOf("b"));
  await world.sync();

  expect((await world.remembered(1))?.applied).toEqual([
    { name: "reaching_used_space", bucket_name: "a", limit: "500" },
  ]);
  expect((await world.remembered())?.applied).toBeUndefined();
});

test.each(LOSSES)(
  "a first send whose %s leaves one threshold, which the ledger remembers",
  async (loss) => {
    const world = await createThresholdWorld({ config: configOf("a"), account: NO_LISTS });
    world.faults.strike(loss);

    await world.sync();

    expect(await world.actual()).toEqual(["reaching_used_space - a 500"]);
    expect((await world.remembered())?.applied).toMatchObject([
      { name: "reaching_used_space", bucket_name: "a", limit: "500", open: { limits: ["500"] } },
    ]);
  },
);

test("a threshold that a dead run may have created is deleted once it is not wanted", async () => {
  const world = await createThresholdWorld({ config: configOf("a", "b"), account: NO_LISTS });
  const lost = Array.from({ length: 2 * 3 }, () => "fails after the effect" as const);
  world.faults.strike(...lost);
  await expect(world.sync()).rejects.toThrow("some changes are left");
  world.source.write(configOf("c"));
  await world.clock.advance(AMBIGUITY_WINDOW_MS);

  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - c 500"]);
});

const manyOf = (count: number, prefix: string) =>
  configOf(...Array.from({ length: count }, (_, n) => `${prefix.padEnd(60, "x")}${n}`));
const rejections = (world: Awaited<ReturnType<typeof createThresholdWorld>>) =>
  world.publishedOf("ThresholdsRejected").map(({ data }) => data.problems);

test("more thresholds than can be remembered are rejected where they cannot be listed", async () => {
  const world = await createThresholdWorld({ config: manyOf(1_500, "a"), account: NO_LISTS });

  await world.sync();

  expect(world.requests).toEqual([]);
  expect(rejections(world)).toEqual([
    [
      {
        path: "thresholds",
        rule: "too many: they cannot be listed at the provider, and the ledger has room for about 1,000; use fewer",
      },
    ],
  ]);
});

test("a thousand thresholds, and a thousand others that replace them, fit into an item of 400 kB", async () => {
  const world = await createThresholdWorld({ config: manyOf(1_000, "a"), account: NO_LISTS });
  await world.sync();
  world.source.write(manyOf(1_000, "b"));
  world.bus.refuse(() => true);
  let largest = 0;
  world.meanwhile(async () => {
    largest = JSON.stringify(await world.ledger.read("thresholds#local")).length;
  });

  await world.sync();

  const item = JSON.stringify(await world.ledger.read("thresholds#local"));
  expect(largest).toBeGreaterThan(200_000);
  expect(Math.max(largest, item.length)).toBeLessThan(400_000);
  expect((await world.actual()).every((line) => line.includes(" bx"))).toBe(true);
  expect(rejections(world)).toEqual([]);
});

test("unwanted thresholds are remembered as far as there is room, and the rest is forgotten", async () => {
  const world = await createThresholdWorld({ account: NO_LISTS });
  const keep = (text: string) => text.replace("prune: true", "prune: false");
  for (const prefix of ["a", "b", "c"]) {
    world.source.write(keep(manyOf(600, prefix)));
    await world.sync();
  }
  world.source.write("prune: true\nthresholds: []\n");

  await world.sync();

  expect(rejections(world)).toEqual([]);
  const left = await world.actual();
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(1_200);
  expect(left.some((line) => line.includes(" cx"))).toBe(false);
});

test("changes of a sync that was paused while another took over are remembered and undone", async () => {
  const world = await createThresholdWorld({ config: configOf("a"), account: NO_LISTS });
  world.meanwhile(async () => {
    // Its lease has expired.
    await breakLease(world.ledger, "sync-thresholds/local");
    world.source.write("prune: true\nthresholds: []\n");
    await expect(world.sync()).rejects.toThrow("some changes are left");
  });

  await expect(world.sync()).rejects.toThrow("another sync has taken over");
  const left = await world.actual();
  await world.clock.advance(AMBIGUITY_WINDOW_MS);
  await world.sync();

  expect(left).toEqual(["reaching_used_space - a 500"]);
  expect(await world.actual()).toEqual([]);
});
