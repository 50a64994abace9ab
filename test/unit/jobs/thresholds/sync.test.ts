import { expect, test } from "vitest";
import { createThresholdWorld, event } from "./threshold-world.ts";

const TWO = `
thresholds:
  - name: reaching_used_space
    bucket_name: photos
    bytes: 500 GiB
  - name: reaching_files_quantity
    bucket_name: photos
    count: 18446744073709551615
`;

test("a wanted threshold that is missing is created, and published", async () => {
  const world = await createThresholdWorld({ config: TWO });

  await world.sync();

  expect(await world.actual()).toEqual([
    "reaching_files_quantity - photos 18446744073709551615",
    "reaching_used_space - photos 536870912000",
  ]);
  expect(world.publishedOf("ThresholdsSynced").map(({ data }) => data)).toEqual([
    {
      cause: "object-created",
      source: { name: "test.yaml", version: expect.stringMatching(/^[0-9a-f]{8}$/) },
      prune: false,
      actualFrom: "list",
      outcome: "complete",
      counts: { created: 2, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 0 },
      changes: [
        {
          action: "create",
          name: "reaching_used_space",
          bucket_name: "photos",
          after: { bytes: "536870912000" },
          outcome: "done",
        },
        {
          action: "create",
          name: "reaching_files_quantity",
          bucket_name: "photos",
          after: { count: "18446744073709551615" },
          outcome: "done",
        },
      ],
    },
  ]);
});

test("a limit that differs is updated, and the event has it before and after", async () => {
  const world = await createThresholdWorld({
    config: TWO,
    events: [
      event("reaching_used_space", "photos", { bytes: "5" }),
      event("reaching_files_quantity", "photos", { count: "18446744073709551615" }),
    ],
  });

  await world.sync();

  expect(world.methods()).toEqual(["GET", "PUT"]);
  expect(await world.actual()).toContain("reaching_used_space - photos 536870912000");
  const [synced] = world.publishedOf("ThresholdsSynced");
  expect(synced?.data.counts).toMatchObject({ updated: 1, unchanged: 1 });
  expect(synced?.data.changes).toEqual([
    {
      action: "update",
      name: "reaching_used_space",
      bucket_name: "photos",
      before: { bytes: "5" },
      after: { bytes: "536870912000" },
      outcome: "done",
    },
  ]);
});

test("an unlisted threshold stays without prune and is deleted with it", async () => {
  const events = [event("reaching_used_traffic", "old", { bytes: "7" })];
  const world = await createThresholdWorld({ config: TWO, events });

  await world.sync();
  const kept = await world.actual();
  world.source.write(`prune: true${TWO}`);
  await world.sync();

  expect(kept).toContain("reaching_used_traffic - old 7");
  expect(await world.actual()).toHaveLength(2);
  expect(world.publishedOf("ThresholdsSynced").at(-1)?.data.changes).toEqual([
    {
      action: "delete",
      name: "reaching_used_traffic",
      bucket_name: "old",
      before: { bytes: "7" },
      outcome: "done",
    },
  ]);
});

test("an empty list with prune deletes all thresholds of the own client and none of others", async () => {
  const other = { ...event("reaching_used_space", "theirs", { bytes: "1" }), client_id: 2 };
  const world = await createThresholdWorld({
    config: "prune: true\nthresholds: []\n",
    events: [event("reaching_used_space", "mine", { bytes: "1" }), other],
  });

  await world.sync();

  expect(await world.actual(1)).toEqual([]);
  expect(await world.actual(2)).toEqual(["reaching_used_space - theirs 1"]);
});

test("a sync right after a sync costs one list request, no write anywhere, and one event", async () => {
  const world = await createThresholdWorld({ config: TWO });
  await world.sync();
  const before = await world.ledger.read("thresholds#local");
  world.methods();

  await world.sync();

  expect(world.methods()).toEqual(["GET"]);
  expect(await world.ledger.read("thresholds#local")).toEqual(before);
  expect(world.publishedOf("ThresholdsSynced").map(({ data }) => data.counts)).toEqual([
    { created: 2, updated: 0, deleted: 0, unchanged: 0, failed: 0, left: 0 },
    { created: 0, updated: 0, deleted: 0, unchanged: 2, failed: 0, left: 0 },
  ]);
});

test("an equivalent config changes nothing", async () => {
  const world = await createThresholdWorld({ config: TWO });
  await world.sync();
  world.methods();

  world.source.write(TWO.replace("500 GiB", "0.48828125 TiB # half a terabyte"));
  await world.sync();

  expect(world.methods()).toEqual(["GET"]);
});

test("a refused change stops no other, and the event names it", async () => {
  const world = await createThresholdWorld({ config: TWO });
  world.faults.strike("is refused");

  await world.sync();

  expect(await world.actual()).toHaveLength(1);
  const [synced] = world.publishedOf("ThresholdsSynced");
  expect(synced?.data).toMatchObject({
    outcome: "partial",
    counts: { created: 1, failed: 1, left: 0 },
  });
  expect(synced?.data.changes[0]).toMatchObject({ outcome: "failed", name: "reaching_used_space" });
});

test("a thousand thresholds cost one request each, and a sync without changes costs one", async () => {
  const world = await createThresholdWorld({
    config: `thresholds:\n${Array.from(
      { length: 1000 },
      (_, n) =>
        `  - { name: reaching_used_space, storage_name: ${"s".repeat(180)}, bucket_name: ${"b".repeat(180)}${n}, bytes: 18446744073709551615 }\n`,
    ).join("")}`,
  });

  await world.sync();
  const first = world.methods();
  await world.sync();

  expect(first).toHaveLength(1001);
  expect(world.methods()).toEqual(["GET"]);
  // The bus of this world refuses an event of more than 200 kB.
  const [synced, unchanged] = world.publishedOf("ThresholdsSynced");
  expect(synced?.data.counts.created).toBe(1000);
  expect(synced?.data.changes).toHaveLength(100);
  expect(unchanged?.data.counts.unchanged).toBe(1000);
});
