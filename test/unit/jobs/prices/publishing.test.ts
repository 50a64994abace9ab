import { expect, test } from "vitest";
import { createPriceWorld, GPU, HOUR_MS, watchlistOf, withLaterPrices } from "./price-world.ts";

const hourly = withLaterPrices(
  { starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03 },
  { starts_at: "2026-01-01T02:00:00Z", external_ip: 0.04 },
);
const watchlist = watchlistOf(GPU);

test("an event that the bus refuses fails no run, stays due and is published later", async () => {
  const world = await createPriceWorld({ state: hourly });
  await world.run({ watchlist });
  await world.clock.advance(HOUR_MS);
  world.bus.refuse(() => true);

  await world.run({ watchlist });

  expect(world.published("PriceChanged")).toEqual([]);
  const due = await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10);
  expect(due.map(({ key }) => key).toSorted()).toEqual([
    "price#acme/gpu",
    "price-run#acme/2026-01-01T01:00:00.000Z",
  ]);
  expect(due[0]?.dueAt).toBe(world.clock.now() + 5_000);
  expect(world.log.lines.map(({ message }) => message)).toContain(
    "events not published, they stay due",
  );
  world.bus.refuse(() => false);
  await world.publishDue();
  expect(world.published("PriceChanged")).toMatchObject([{ data: { number: 2 } }]);
  expect(world.published("PricesCaptured")).toHaveLength(2);
  expect(await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
});

test("the log lines of a run have its account and its correlation id, like its events", async () => {
  const world = await createPriceWorld();
  world.bus.refuse(({ detailType }) => detailType === "PricesCaptured");

  await world.run({ watchlist });

  const run = "prices/acme/2026-01-01T00:00:00.000Z";
  expect(world.log.lines).not.toEqual([]);
  for (const { fields } of world.log.lines) {
    expect(fields).toMatchObject({ account: "acme", correlationId: run });
  }
});

test("unpublished changes are published in order with the next one", async () => {
  const world = await createPriceWorld({ state: hourly });
  await world.run({ watchlist });
  world.bus.refuse(({ detailType }) => detailType === "PriceChanged");
  await world.clock.advance(HOUR_MS);
  await world.run({ watchlist });
  world.bus.refuse(() => false);
  await world.clock.advance(HOUR_MS);

  await world.run({ watchlist });

  expect(world.published("PriceChanged").map(({ data }) => data.number)).toEqual([2, 3]);
});

test("a repeat of the run publishes its remaining events", async () => {
  const world = await createPriceWorld();
  world.bus.refuse(() => true);
  await world.run({ watchlist });
  world.bus.refuse(() => false);

  await world.run({ watchlist });

  expect(world.published("PricesCaptured")).toHaveLength(1);
});

test("the event lists at most a hundred failures, and counts all of them", async () => {
  const world = await createPriceWorld();
  const lost = Array.from(
    { length: 120 },
    (_, index) =>
      `{ name: lost-${index}, k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: none } }`,
  );

  await world.run({ watchlist: watchlistOf(...lost) });

  const { failed, failures } = world.published("PricesCaptured")[0]!.data;
  expect(failed).toBe(120);
  expect(failures).toHaveLength(100);
});

test("the event of a change lists at most a hundred categories, and counts all of them", async () => {
  const nodes = Array.from({ length: 60 }, () => "g1-standard-1-2");
  const state = withLaterPrices({
    starts_at: "2026-01-01T01:00:00Z",
    flavors: { "g1-standard-1-2": 0.03 },
  });
  const world = await createPriceWorld({
    state: (builtIn) => ({
      ...state(builtIn),
      k8s_clusters: builtIn.k8s_clusters.map((one) => ({ ...one, nodes, volumes: [] })),
    }),
  });
  const cluster =
    "{ name: big, k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: my-cluster } }";
  await world.run({ watchlist: watchlistOf(cluster) });
  await world.clock.advance(HOUR_MS);

  await world.run({ watchlist: watchlistOf(cluster) });

  const { categories, categoryCount, percent } = world.published("PriceChanged")[0]!.data;
  expect(categoryCount).toBe(183);
  expect(categories).toHaveLength(100);
  expect(categories[0]).toEqual({ category: "total.per_hour", before: "1.22", after: "1.82" });
  expect(percent).toBe("49.18");
});
