import { expect, test } from "vitest";
import { type Drift, driftsWithin } from "../../../../lib/jobs/thresholds/drift-history.ts";
import { createThresholdWorld } from "./threshold-world.ts";

const SCHEDULE = { kind: "schedule" } as const;
const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: photos, bytes: 500 }
  - { name: reaching_used_space, storage_name: films, bucket_name: cuts, bytes: 900 }
`;
const KEY = "thresholds#local";

const configOf = (buckets: readonly string[]): string =>
  `prune: true\nthresholds: [${buckets
    .map((name) => `{ name: reaching_used_space, bucket_name: ${name}, bytes: 500 }`)
    .join(", ")}]\n`;
const bucketsOf = (count: number) => Array.from({ length: count }, (_, n) => `bucket-${n}`);

type World = Awaited<ReturnType<typeof createThresholdWorld>>;

const changeAtProvider = (world: World, bytes: number) =>
  world.atProvider("PUT", { name: "reaching_used_space", bucket_name: "photos", bytes });

/** A synced world in which another client then changed every kind of thing. */
const driftedWorld = async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  const films = { storage_name: "films", bucket_name: "cuts" };
  await world.atProvider("DELETE", { name: "reaching_used_space", ...films });
  await changeAtProvider(world, 1);
  await world.atProvider("POST", { name: "reaching_used_requests", count: 3 });
  return world;
};

test("a drift is remembered with the time of its event, its counts and its names", async () => {
  const world = await driftedWorld();
  await world.clock.advance(3_600_000);

  await world.sync(SCHEDULE);

  const [drifted] = world.publishedOf("ThresholdsDrifted");
  expect((await world.remembered())?.drifts).toEqual([
    {
      at: Date.parse(drifted?.metadata.time ?? ""),
      missing: 1,
      different: 1,
      unwanted: 1,
      names: [
        "reaching_used_space bucket photos",
        "reaching_used_space storage films bucket cuts",
        "reaching_used_requests",
      ],
    },
  ]);
});

test("the history costs no write of its own", async () => {
  const world = await driftedWorld();
  const before = (await world.ledger.read(KEY))?.version ?? 0;

  await world.sync(SCHEDULE);

  // Intents with the drift, its publication, outcomes, their publication.
  expect((await world.ledger.read(KEY))?.version).toBe(before + 4);
});

test("further runs about one drift add nothing", async () => {
  const world = await driftedWorld();
  world.faults.strike("is refused");

  await world.sync(SCHEDULE);
  await world.sync(SCHEDULE);
  await world.sync(SCHEDULE);

  expect((await world.remembered())?.drifts).toHaveLength(1);
});

test("a sync of another config keeps the history and adds nothing", async () => {
  const world = await driftedWorld();
  await world.sync(SCHEDULE);
  world.source.write(configOf(bucketsOf(3)));

  await world.sync();

  expect((await world.remembered())?.drifts).toHaveLength(1);
});

test("the history keeps the last 50 drifts, the oldest first", async () => {
  const world = await createThresholdWorld({ config: CONFIG });
  await world.sync();
  for (let count = 1; count <= 52; count += 1) {
    await world.clock.advance(1_000);
    await changeAtProvider(world, count);
    await world.sync(SCHEDULE);
  }

  const drifts = (await world.remembered())?.drifts ?? [];

  const times = world.publishedOf("ThresholdsDrifted").map(({ metadata }) => metadata.time);
  expect(times).toHaveLength(52);
  expect(drifts.map(({ at }) => new Date(at).toISOString())).toEqual(times.slice(-50));
});

test("a drift keeps ten names and counts all", async () => {
  const world = await createThresholdWorld({ config: configOf(bucketsOf(12)) });
  await world.sync();
  for (const bucket of bucketsOf(12)) {
    await world.atProvider("DELETE", { name: "reaching_used_space", bucket_name: bucket });
  }

  await world.sync(SCHEDULE);

  const [drift] = (await world.remembered())?.drifts ?? [];
  expect(drift?.missing).toBe(12);
  expect(drift?.names).toHaveLength(10);
  expect(drift?.names[0]).toBe("reaching_used_space bucket bucket-0");
});

test("a record of a version without the history is read, and begins one", async () => {
  const world = await driftedWorld();
  await world.sync(SCHEDULE);
  const stored = await world.ledger.read(KEY);
  // The old version writes the fields that it knows.
  const { drifts: _, ...value } = { drifts: undefined, ...stored?.value };
  const version = (stored?.version ?? 0) + 1;
  await world.ledger.write({ key: KEY, version, value });
  await changeAtProvider(world, 7);

  await world.sync(SCHEDULE);

  expect(world.publishedOf("ThresholdsDrifted")).toHaveLength(2);
  expect((await world.remembered())?.drifts).toMatchObject([{ different: 1 }]);
});

const historyOf = (count: number, nameLength: number): readonly Drift[] =>
  Array.from({ length: count }, (_, at) => ({
    at,
    missing: 10,
    different: 0,
    unwanted: 0,
    names: Array.from({ length: 10 }, () => "x".repeat(nameLength)),
  }));

const bytesOf = (drifts: readonly Drift[]) => JSON.stringify(drifts).length;

test("50 drifts with names of usual length fit into 40 kB", () => {
  const history = historyOf(50, 60);

  expect(driftsWithin(history, 395_000)).toEqual(history);
  expect(bytesOf(history)).toBeLessThan(40_000);
});

test.each([40_000, 15_000, 5_000, 500, 0])(
  "in %i bytes the newest drifts keep their names, and times and counts stay longest",
  (room) => {
    const kept = driftsWithin(historyOf(60, 100), room);

    expect(bytesOf(kept)).toBeLessThanOrEqual(Math.max(room, 2));
    const named = kept.filter(({ names }) => names.length > 0);
    expect(kept.slice(kept.length - named.length)).toEqual(named);
    expect(kept.map(({ at }) => at)).toEqual(
      Array.from({ length: kept.length }, (_, back) => 59 - back).toReversed(),
    );
    if (room >= 5_000) expect(kept).toHaveLength(50);
    if (room >= 15_000) expect(named.length).toBeGreaterThan(5);
  },
);

test("a full history leaves the record its room where thresholds cannot be listed", async () => {
  const namesOf = (prefix: string) =>
    Array.from({ length: 130 }, (_, n) => `${prefix.repeat(1_000)}${n}`);
  const world = await createThresholdWorld({
    config: configOf(namesOf("a")),
    account: { canList: false },
  });
  await world.sync();
  const stored = await world.ledger.read(KEY);
  const drifts = historyOf(50, 60).map((drift) => ({ ...drift, names: [...drift.names] }));
  const version = (stored?.version ?? 0) + 1;
  await world.ledger.write({ key: KEY, version, value: { ...stored?.value, drifts } });
  world.source.write(configOf(namesOf("b")));
  // Former thresholds stay in the record beside the new ones, and the event stays in its outbox.
  world.poison(...namesOf("a"));
  world.bus.refuse(() => true);

  await expect(world.sync()).rejects.toThrow("some changes are left");

  const record = await world.remembered();
  const { drifts: kept = [], ...rest } = record ?? {};
  expect(JSON.stringify(rest).length).toBeGreaterThan(370_000);
  expect(JSON.stringify(record).length).toBeLessThan(396_000);
  expect(kept).toHaveLength(50);
  expect(kept.at(-1)?.names).toHaveLength(10);
  expect(kept[0]?.names).toEqual([]);
});
