import { expect, test } from "vitest";
import {
  type ThresholdsViewDeps,
  thresholdsViewSchema,
  viewThresholds,
} from "../../../lib/admin/thresholds-view.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import { createThresholdWorld, event } from "../jobs/thresholds/threshold-world.ts";

const SCHEDULE = { kind: "schedule" } as const;
const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: photos, bytes: 18446744073709551615 }
  - { name: reaching_used_requests, count: 7 }
  - { name: reaching_used_space, storage_name: films, bytes: 900 }
`;
const EVENTS = [
  event("reaching_used_space", "photos", { bytes: "18446744073709551614" }),
  { ...event("reaching_used_requests", "", { count: "7" }) },
  event("reaching_used_traffic", "theirs", { bytes: "3" }),
];

type World = Awaited<ReturnType<typeof createThresholdWorld>>;

/** The view as its JSON, which the schema must accept as it is. */
const view = async (world: World, over: Partial<ThresholdsViewDeps> = {}) => {
  const { ledger, source } = world;
  const provider = world.newInvocation().deps.accountOf("local");
  const made = await viewThresholds({ ledger, source, account: "local", provider, ...over });
  const json = JSON.parse(JSON.stringify(made));
  expect(thresholdsViewSchema.parse(json)).toEqual(json);
  return made;
};

test("wanted and actual thresholds stand side by side, with exact limits and the plan", async () => {
  const world = await createThresholdWorld({ config: CONFIG, events: EVENTS });

  const { rows, config, actualFrom } = await view(world);

  expect(actualFrom).toBe("list");
  expect(config).toEqual({
    kind: "valid",
    source: world.source.name,
    prune: true,
    isSynced: false,
  });
  expect(rows).toEqual([
    {
      name: "reaching_used_space",
      bucket_name: "photos",
      unit: "bytes",
      wanted: "18446744073709551615",
      actual: "18446744073709551614",
      action: "update",
    },
    {
      name: "reaching_used_space",
      storage_name: "films",
      unit: "bytes",
      wanted: "900",
      actual: null,
      action: "create",
    },
    {
      name: "reaching_used_traffic",
      bucket_name: "theirs",
      unit: "bytes",
      wanted: null,
      actual: "3",
      action: "delete",
    },
    { name: "reaching_used_requests", unit: "count", wanted: "7", actual: "7", action: "none" },
  ]);
});

test("a threshold that the file does not list is kept without prune", async () => {
  const config = CONFIG.replace("prune: true", "prune: false");
  const world = await createThresholdWorld({ config, events: EVENTS });

  const { rows } = await view(world);

  expect(rows.at(-1)).toMatchObject({ name: "reaching_used_traffic", actual: "3", action: "keep" });
});

test("a sync does what the view has shown, and then nothing is left to do", async () => {
  const world = await createThresholdWorld({ config: CONFIG, events: EVENTS });
  const { rows } = await view(world);
  world.methods();

  await world.sync();

  const METHODS = { create: "POST", update: "PUT", delete: "DELETE" } as const;
  const planned = rows.flatMap(({ action }) =>
    action in METHODS ? METHODS[action as "create"] : [],
  );
  const made = world.methods().filter((method) => method !== "GET");
  expect(made.toSorted()).toEqual([...planned].toSorted());
  const after = await view(world);
  expect(after.rows.map(({ action }) => action)).toEqual(["none", "none", "none"]);
  expect(after.config).toMatchObject({ isSynced: true });
});

test("a view changes neither the provider nor the record, and publishes nothing", async () => {
  const world = await createThresholdWorld({ config: CONFIG, events: EVENTS });
  await world.sync();
  world.source.write("prune: true\nthresholds: []\n");
  const actual = await world.actual();
  const version = (await world.ledger.read("thresholds#local"))?.version;
  const published = world.publishedTypes();
  world.methods();

  await view(world);

  expect(world.methods()).toEqual(["GET"]);
  expect(await world.actual()).toEqual(actual);
  expect((await world.ledger.read("thresholds#local"))?.version).toBe(version);
  expect(world.publishedTypes()).toEqual(published);
});

test("the last sync and the drifts are shown, the newest drift first", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  const first = await view(world);
  for (const bytes of [1, 2]) {
    await world.clock.advance(60_000);
    await world.atProvider("PUT", { name: "reaching_used_space", bucket_name: "photos", bytes });
    await world.sync(SCHEDULE);
  }

  const { drifts, lastSync } = await view(world);

  expect(first.lastSync).toMatchObject({ outcome: "complete", counts: { created: 3, updated: 0 } });
  expect(first.drifts).toEqual([]);
  const synced = world.publishedOf("ThresholdsSynced");
  expect(lastSync).toEqual({
    at: synced.at(-1)?.metadata.time,
    outcome: "complete",
    counts: synced.at(-1)?.data.counts,
  });
  const times = world.publishedOf("ThresholdsDrifted").map(({ metadata }) => metadata.time);
  expect(drifts.map(({ at }) => at)).toEqual(times.toReversed());
  expect(drifts[0]).toMatchObject({ different: 1, names: ["reaching_used_space bucket photos"] });
});

test("a refused change is counted in the last sync", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  world.faults.strike("is refused");

  await world.sync();

  expect((await view(world)).lastSync).toMatchObject({
    outcome: "partial",
    counts: { created: 2, failed: 1 },
  });
});

test("a new config without a difference is recorded as a sync", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  await world.clock.advance(60_000);
  world.source.write(CONFIG.replace("prune: true", "prune: false"));

  await world.sync();

  expect((await view(world)).lastSync).toEqual({
    at: new Date(world.clock.now()).toISOString(),
    outcome: "complete",
    counts: { created: 0, updated: 0, deleted: 0, unchanged: 3, failed: 0, left: 0 },
  });
});

test("where the API has no list, the record says what is there", async () => {
  const world = await createThresholdWorld({ config: CONFIG, account: { canList: false } });
  const before = await view(world);
  await world.sync();
  world.source.write(CONFIG.replace("bytes: 900", "bytes: 901"));
  world.methods();

  const { rows, actualFrom } = await view(world);

  expect(before.rows.map(({ action }) => action)).toEqual(["create", "create", "create"]);
  expect(world.methods()).toEqual([]);
  expect(actualFrom).toBe("ledger");
  expect(rows[0]).toMatchObject({
    storage_name: "films",
    wanted: "901",
    actual: "900",
    action: "update",
  });
  expect(rows.slice(1).map(({ action }) => action)).toEqual(["none", "none"]);
});

test("a limit that an unanswered request leaves unknown is absent", async () => {
  const config = "thresholds: [{ name: reaching_used_space, bucket_name: photos, bytes: 5 }]\n";
  const world = await createThresholdWorld({ config, account: { canList: false } });
  world.faults.strike(...Array.from({ length: 3 }, () => "fails after the effect" as const));
  await expect(world.sync()).rejects.toThrow("some changes are left");

  const { rows } = await view(world);

  expect(rows).toEqual([
    {
      name: "reaching_used_space",
      bucket_name: "photos",
      unit: "bytes",
      wanted: "5",
      action: "update",
    },
  ]);
});

test("without the provider, the view says that the actual thresholds are not known", async () => {
  const world = await createThresholdWorld({ config: CONFIG, events: EVENTS });
  await world.sync();

  const { rows, actualFrom, actualProblem, config } = await view(world, { provider: undefined });

  expect(actualFrom).toBe("none");
  expect(actualProblem).toContain("API key");
  expect(config).toMatchObject({ isSynced: true });
  expect(rows.map(({ action }) => action)).toEqual(["unknown", "unknown", "unknown"]);
  expect(rows.every((row) => !("actual" in row))).toBe(true);
});

test("without the provider, a record of applied thresholds is compared", async () => {
  const world = await createThresholdWorld({ config: CONFIG, account: { canList: false } });
  await world.sync();

  const { rows, actualFrom } = await view(world, { provider: undefined });

  expect(actualFrom).toBe("ledger");
  expect(rows.map(({ action }) => action)).toEqual(["none", "none", "none"]);
});

test("thresholds of another client are read from its own record", async () => {
  const world = await createThresholdWorld({ config: `client_id: 1\n${CONFIG}` });
  await world.sync();

  const { config, actualFrom, lastSync } = await view(world);

  expect(config).toMatchObject({ clientId: "1", isSynced: true });
  expect(actualFrom).toBe("ledger");
  expect(lastSync?.counts.created).toBe(3);
});

test("a list that cannot be read leaves the wanted thresholds, with the reason", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  const provider = world.newInvocation().deps.accountOf("local");
  if (!provider) throw new Error("no account");
  const client = {
    call: async () => {
      throw new ProviderError({
        disposition: "permanent",
        code: "key-refused",
        message: "the provider refused the key",
      });
    },
  };

  const made = await view(world, { provider: { client, canList: true } });

  expect(made.actualProblem).toBe("the provider refused the key");
  expect(made.rows.map(({ action }) => action)).toEqual(["unknown", "unknown", "unknown"]);
});

test("a file that cannot be read is named with the reason", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  const source = { name: "s3://b/k", read: () => Promise.reject(new Error("access denied")) };

  expect((await view(world, { source })).config).toEqual({
    kind: "unreadable",
    source: "s3://b/k",
    problem: "access denied",
  });
});

test("an invalid, a missing and an unconfigured file each say so, and keep the history", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  world.source.write("thresholds:\n  - { name: reaching_used_space }\n");
  const invalid = await view(world);
  world.source.write(undefined);
  const missing = await view(world);
  const unconfigured = await view(world, { source: undefined });

  expect(invalid.config).toMatchObject({
    kind: "invalid",
    problems: [{ path: "thresholds.0.bytes", rule: "required", line: 2 }],
  });
  expect(missing.config).toEqual({ kind: "missing", source: world.source.name });
  expect(unconfigured.config).toEqual({ kind: "not-configured" });
  for (const { rows, lastSync } of [invalid, missing, unconfigured]) {
    expect(rows).toEqual([]);
    expect(lastSync?.counts.created).toBe(3);
  }
});
