import { describe, expect, test } from "vitest";
import { listPrices, priceChanges, priceHistory } from "../../../../lib/jobs/prices/memory.ts";
import {
  ACCOUNT,
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  LOST,
  START,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

const ddosAt = (price_per_day: number) => ({
  feature_name: "f",
  unit_name: "PC",
  unit_size: 1,
  price_currency: "EUR" as const,
  price_per_day,
});

/** Four runs: at 1:00 both prices change, at 2:00 one is hidden, at 3:00 it is shown and higher. */
const afterFourRuns = async () => {
  const world = await createPriceWorld({
    state: withLaterPrices(
      { starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03, ddos: ddosAt(2.5) },
      {
        starts_at: "2026-01-01T02:00:00Z",
        external_ip: 0.03,
        ddos: ddosAt(2.5),
        price_status: "hide",
      },
      { starts_at: "2026-01-01T03:00:00Z", external_ip: 0.04, ddos: ddosAt(2.5) },
    ),
  });
  for (let hour = 0; hour < 4; hour++) {
    await world.run({ watchlist: watchlistOf(GPU, DDOS, LOST) });
    await world.clock.advance(HOUR_MS);
  }
  return world;
};

describe("the list of prices", () => {
  test("has every name with its latest reading and how the last run ended", async () => {
    const { ledger } = await afterFourRuns();

    const list = await listPrices(ledger, ACCOUNT);

    expect(list).toEqual([
      {
        name: "ddos",
        kind: "ddos",
        latest: {
          number: 2,
          kind: "ddos",
          readAt: "2026-01-01T01:00:00.000Z",
          lastSeenAt: "2026-01-01T03:00:00.000Z",
          status: "show",
          total: { currency: "EUR", per_hour: "0.10416666666666667", per_month: "75" },
        },
        lastRun: { bucket: "2026-01-01T03:00:00.000Z", outcome: "unchanged", problem: null },
      },
      {
        name: "gpu",
        kind: "gpu_cluster",
        latest: {
          number: 4,
          kind: "gpu_cluster",
          readAt: "2026-01-01T03:00:00.000Z",
          lastSeenAt: "2026-01-01T03:00:00.000Z",
          status: "show",
          total: { currency: "EUR", per_hour: "24.04", per_month: "17308.8" },
        },
        lastRun: { bucket: "2026-01-01T03:00:00.000Z", outcome: "changed", problem: null },
      },
      {
        name: "lost",
        kind: "k8s_cluster",
        latest: null,
        lastRun: {
          bucket: "2026-01-01T03:00:00.000Z",
          outcome: "failed",
          problem: "get-k8s-cluster-price: 404 not-found: cluster not found",
        },
      },
    ]);
    expect(JSON.parse(JSON.stringify(list))).toEqual(list);
  });

  test("has no price for a new order without one, although an earlier order under its name had one", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf("{ name: x, ddos: { region_id: 76 } }") });
    await world.clock.advance(HOUR_MS);
    await world.run({ watchlist: watchlistOf(LOST.replace("name: lost", "name: x")) });

    const list = await listPrices(world.ledger, ACCOUNT);

    expect(list).toMatchObject([
      { name: "x", kind: "k8s_cluster", latest: null, lastRun: { outcome: "failed" } },
    ]);
    expect(await priceHistory(world.ledger, ACCOUNT, "x")).toMatchObject([{ kind: "ddos" }]);
  });

  test("of an account that has watched nothing is empty", async () => {
    const { ledger } = await afterFourRuns();

    expect(await listPrices(ledger, "nobody")).toEqual([]);
  });
});

describe("the history of a price", () => {
  test("has every stored reading, newest first, with all of its amounts", async () => {
    const { ledger } = await afterFourRuns();

    const history = await priceHistory(ledger, ACCOUNT, "gpu");

    expect(
      history?.map(({ number, readAt, status, total }) => [number, readAt, status, total.per_hour]),
    ).toEqual([
      [4, "2026-01-01T03:00:00.000Z", "show", "24.04"],
      [3, "2026-01-01T02:00:00.000Z", "hide", "24.03"],
      [2, "2026-01-01T01:00:00.000Z", "show", "24.03"],
      [1, "2026-01-01T00:00:00.000Z", "show", "24.02"],
    ]);
    expect(history?.[3]).toMatchObject({
      kind: "gpu_cluster",
      lastSeenAt: "2026-01-01T00:00:00.000Z",
      amounts: { "total.per_month": "17294.4", tax_percent: "0" },
    });
  });

  test("is empty for a name without readings, and undefined for an unknown name", async () => {
    const { ledger } = await afterFourRuns();

    expect(await priceHistory(ledger, ACCOUNT, "lost")).toEqual([]);
    expect(await priceHistory(ledger, ACCOUNT, "unknown")).toBeUndefined();
  });
});

describe("the changes of prices", () => {
  test("compare each shown price with the one shown before it, over all items, newest first", async () => {
    const { ledger } = await afterFourRuns();

    const changes = await priceChanges(ledger, ACCOUNT, START);

    expect(
      changes.map(({ name, number, readAt, percent }) => [name, number, readAt, percent]),
    ).toEqual([
      ["gpu", 4, "2026-01-01T03:00:00.000Z", "0.04"],
      ["ddos", 2, "2026-01-01T01:00:00.000Z", "25.00"],
      ["gpu", 2, "2026-01-01T01:00:00.000Z", "0.04"],
    ]);
    expect(changes[0]).toMatchObject({
      kind: "gpu_cluster",
      previousReadAt: "2026-01-01T01:00:00.000Z",
      before: { currency: "EUR", per_hour: "24.03", per_month: "17301.6" },
      after: { currency: "EUR", per_hour: "24.04", per_month: "17308.8" },
      categories: [
        { category: "total.per_hour", before: "24.03", after: "24.04" },
        { category: "total.per_month", before: "17301.6", after: "17308.8" },
        { category: "total.per_month_without_discount", before: "17301.6", after: "17308.8" },
      ],
    });
  });

  test("equal the published events", async () => {
    const world = await afterFourRuns();

    const changes = await priceChanges(world.ledger, ACCOUNT, START);

    const published = world
      .published("PriceChanged")
      // Both repeat `categories` and `percent`, for patterns of EventBridge.
      .map(({ data: { categoryCount: _, percentNumber: __, ...data } }) => data);
    expect(changes.toReversed()).toEqual(expect.arrayContaining(published));
    expect(changes).toHaveLength(published.length);
  });

  test.each([
    ["2026-01-01T03:00:00.000Z", 1],
    ["2026-01-01T03:00:00.001Z", 0],
    ["2026-01-01T01:00:00.000Z", 3],
  ])("since %s are %i, that instant included", async (since, count) => {
    const { ledger } = await afterFourRuns();

    expect(await priceChanges(ledger, ACCOUNT, Date.parse(since))).toHaveLength(count);
  });

  test("are none between two orders under one name", async () => {
    const world = await createPriceWorld();
    const orders = ["g1-standard-1-2", "g1-standard-2-4", "g1-standard-1-2"];
    for (const flavor of orders) {
      const order = `{ name: a, instance: { project_id: 1234567, region_id: 76, body: { flavor: ${flavor}, names: [a], interfaces: [] } } }`;
      await world.run({ watchlist: watchlistOf(order) });
      await world.clock.advance(HOUR_MS);
    }

    expect(await priceHistory(world.ledger, ACCOUNT, "a")).toHaveLength(3);
    expect(await priceChanges(world.ledger, ACCOUNT, 0)).toEqual([]);
    expect(world.published("PriceChanged")).toEqual([]);
  });

  test("are none across another order that was never shown", async () => {
    const world = await createPriceWorld({
      state: withLaterPrices(
        { starts_at: "2026-01-01T01:00:00Z", price_status: "hide" },
        { starts_at: "2026-01-01T02:00:00Z", external_ip: 0.5 },
      ),
    });
    for (const name of ["x", "y", "x"]) {
      const order = `{ name: a, instance: { project_id: 1234567, region_id: 76, body: { flavor: g1-standard-1-2, names: [${name}], interfaces: [{ type: external }] } } }`;
      await world.run({ watchlist: watchlistOf(order) });
      await world.clock.advance(HOUR_MS);
    }

    expect(await priceHistory(world.ledger, ACCOUNT, "a")).toHaveLength(3);
    expect(await priceChanges(world.ledger, ACCOUNT, 0)).toEqual([]);
  });
});
