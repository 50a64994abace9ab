import { expect, test } from "vitest";
import { createThresholdWorld } from "./threshold-world.ts";

const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: photos, bytes: 500 }
  - { name: reaching_used_space, bucket_name: films, bytes: 900 }
`;
const SCHEDULE = { kind: "schedule" } as const;

test("a change at the provider is published as drift, then undone", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "films" });
  await world.atProvider("PUT", { name: "reaching_used_space", bucket_name: "photos", bytes: 1 });
  await world.atProvider("POST", { name: "reaching_used_requests", count: 3 });

  await world.sync(SCHEDULE);

  expect(await world.actual()).toEqual([
    "reaching_used_space - films 900",
    "reaching_used_space - photos 500",
  ]);
  expect(world.publishedTypes()).toEqual([
    "ThresholdsSynced",
    "ThresholdsDrifted",
    "ThresholdsSynced",
  ]);
  const [drifted] = world.publishedOf("ThresholdsDrifted");
  expect(drifted?.data).toMatchObject({
    cause: "schedule",
    counts: { missing: 1, different: 1, unwanted: 1 },
  });
  expect(drifted?.data.differences).toEqual([
    {
      action: "update",
      name: "reaching_used_space",
      bucket_name: "photos",
      before: { bytes: "1" },
      after: { bytes: "500" },
    },
    {
      action: "create",
      name: "reaching_used_space",
      bucket_name: "films",
      after: { bytes: "900" },
    },
    { action: "delete", name: "reaching_used_requests", before: { count: "3" } },
  ]);
});

test("a config that changed without an event is no drift", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  world.source.write(CONFIG.replace("500", "501"));

  await world.sync(SCHEDULE);

  expect(await world.actual()).toContain("reaching_used_space - photos 501");
  expect(world.publishedOf("ThresholdsDrifted")).toEqual([]);
});

test("a change that a sync left undone is no drift", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  world.faults.strike("is refused");
  await world.sync();

  await world.sync(SCHEDULE);

  expect(await world.actual()).toHaveLength(2);
  expect(world.publishedOf("ThresholdsDrifted")).toEqual([]);
});

test("the first sync finds no drift", async () => {
  const world = await createThresholdWorld({ config: CONFIG });

  await world.sync(SCHEDULE);

  expect(world.publishedTypes()).toEqual(["ThresholdsSynced"]);
});

test("drift found after the same config was written again is published too", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "films" });
  world.source.write(`# merged again\n${CONFIG}`);

  await world.sync({ kind: "object-created", sequencer: "02" });

  expect(world.publishedTypes()).toEqual([
    "ThresholdsSynced",
    "ThresholdsDrifted",
    "ThresholdsSynced",
  ]);
  expect(world.publishedOf("ThresholdsDrifted")[0]?.data).toMatchObject({
    cause: "object-created",
    counts: { missing: 1, different: 0, unwanted: 0 },
  });
  expect(await world.actual()).toHaveLength(2);
});

test("a new config that turns pruning on finds no drift", async () => {
  const world = await createThresholdWorld({ config: CONFIG.replace("true", "false") });
  await world.atProvider("POST", { name: "reaching_used_requests", count: 3 });
  await world.sync();
  world.source.write(CONFIG);

  await world.sync();

  expect(world.publishedOf("ThresholdsDrifted")).toEqual([]);
  expect(await world.actual()).toHaveLength(2);
});

test("drift that a sync cannot undo at once is published once", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "films" });
  world.faults.strike("is refused");

  await world.sync(SCHEDULE);
  await world.sync(SCHEDULE);

  expect(world.publishedOf("ThresholdsDrifted")).toHaveLength(1);
  expect(await world.actual()).toHaveLength(2);
});

test("an event about an older version of the config, or a redelivered one, is ignored", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync({ sequencer: "0055AED6DCD90281E5" });
  world.methods();

  await world.sync({ sequencer: "0055AED6DCD90281E4FF" });
  await world.sync({ sequencer: "0055aed6dcd90281e5" });

  expect(world.methods()).toEqual([]);
  expect(world.publishedTypes()).toEqual(["ThresholdsSynced"]);
});

test("an event about a newer version syncs the newest config, and a longer sequencer is later", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync({ sequencer: "0055AED6DCD90281E5" });
  world.source.write(CONFIG.replace("500", "501"));

  await world.sync({ sequencer: "0055AED6DCD90281E501" });

  expect(await world.actual()).toContain("reaching_used_space - photos 501");
});

test("the redelivered event of an unfinished sync is not ignored", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  world.faults.strike("is refused");
  await world.sync({ sequencer: "01" });

  await world.sync({ sequencer: "01" });

  expect(await world.actual()).toHaveLength(2);
});

test("drift is published before its first change", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: "films" });
  const publishedThen: string[] = [];
  world.meanwhile(async () => publishedThen.push(...world.publishedTypes()));

  await world.sync(SCHEDULE);

  expect(publishedThen).toEqual(["ThresholdsSynced", "ThresholdsDrifted"]);
});
