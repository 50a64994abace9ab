import { expect, test } from "vitest";
import { priceTotals, priceTotalsSchema } from "../../../../lib/jobs/prices/totals.ts";
import {
  ACCOUNT,
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  K8S,
  LOST,
  type PriceWorld,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

const totals = async ({ ledger }: PriceWorld) => {
  const made = await priceTotals(ledger, ACCOUNT);
  expect(priceTotalsSchema.parse(JSON.parse(JSON.stringify(made)))).toEqual(made);
  return made;
};

const storeItem = (
  world: PriceWorld,
  name: string,
  { bucket = "2026-01-01T00:00:00.000Z", currency = "EUR", hour = "0.1", month = "0.2" },
) => {
  const reading = {
    status: "show",
    currency,
    amounts: { "total.per_hour": hour, "total.per_month": month },
  };
  const latest = { number: 1, kind: "ddos", fingerprint: "f", reading, readAt: 1, lastSeenAt: 1 };
  return world.ledger.write({
    key: `price#${ACCOUNT}/${name}`,
    version: 1,
    value: {
      account: ACCOUNT,
      name,
      kind: "ddos",
      fingerprint: "f",
      latest,
      lastRun: { bucket, outcome: "first" },
      outbox: [],
    },
  });
};

const storeNames = (world: PriceWorld, names: readonly string[]) =>
  world.ledger.write({ key: `price-names#${ACCOUNT}`, version: 1, value: { names: [...names] } });

test("without a run there is no total", async () => {
  expect(await totals(await createPriceWorld())).toEqual({ bucket: null, totals: [], leftOut: [] });
});

test("amounts are added exactly, up to 40 digits", async () => {
  const world = await createPriceWorld();
  await storeNames(world, ["a", "b", "c"]);
  await storeItem(world, "a", { hour: "0.1", month: "9007199254740993.000000000000000000001" });
  await storeItem(world, "b", { hour: "0.2", month: "0.000000000000000000009" });
  await storeItem(world, "c", { hour: "0.30", month: "1" });

  expect((await totals(world)).totals).toEqual([
    {
      currency: "EUR",
      per_hour: { amount: "0.6", items: 3 },
      per_month: { amount: "9007199254740994.00000000000000000001", items: 3 },
    },
  ]);
});

test("each currency has its own total", async () => {
  const world = await createPriceWorld();
  await storeNames(world, ["a", "b", "c"]);
  await storeItem(world, "a", { currency: "USD" });
  await storeItem(world, "b", { currency: "EUR" });
  await storeItem(world, "c", { currency: "USD" });

  expect(
    (await totals(world)).totals.map(({ currency, per_hour }) => [currency, per_hour]),
  ).toEqual([
    ["EUR", { amount: "0.1", items: 1 }],
    ["USD", { amount: "0.2", items: 2 }],
  ]);
});

test("an item that left the watchlist is in no total, and neither is one without a price", async () => {
  const world = await createPriceWorld();
  await world.run({ watchlist: watchlistOf(GPU, DDOS, LOST) });
  await world.clock.advance(HOUR_MS);
  await world.run({ watchlist: watchlistOf(DDOS, LOST) });

  const { totals: sums, leftOut, bucket } = await totals(world);

  expect(bucket).toBe("2026-01-01T01:00:00.000Z");
  expect(sums.map(({ per_month }) => per_month.items)).toEqual([1]);
  expect(leftOut).toEqual([
    { name: "gpu", why: "removed" },
    { name: "lost", why: "no-price" },
  ]);
});

test("a hidden price is in no total", async () => {
  const world = await createPriceWorld({
    state: withLaterPrices({ starts_at: "2026-01-01T01:00:00Z", price_status: "hide" }),
  });
  await world.run({ watchlist: watchlistOf(GPU) });
  const shown = await totals(world);
  await world.clock.advance(HOUR_MS);
  await world.run({ watchlist: watchlistOf(GPU) });

  expect(shown.totals).toHaveLength(1);
  expect(await totals(world)).toMatchObject({
    totals: [],
    leftOut: [{ name: "gpu", why: "no-price" }],
  });
});

test("during a run, items that it has not reached stay in the total", async () => {
  const world = await createPriceWorld();
  await world.run({ watchlist: watchlistOf(GPU, DDOS, K8S) });
  await world.clock.advance(HOUR_MS);
  const item = await world.ledger.read(`price#${ACCOUNT}/ddos`);
  // The next run has stored one item.
  await world.ledger.write({
    key: `price#${ACCOUNT}/ddos`,
    version: (item?.version ?? 0) + 1,
    value: {
      ...item?.value,
      lastRun: { bucket: "2026-01-01T01:00:00.000Z", outcome: "unchanged" },
    },
  });

  const { leftOut, bucket } = await totals(world);

  expect(leftOut).toEqual([]);
  expect(bucket).toBe("2026-01-01T00:00:00.000Z");
});
