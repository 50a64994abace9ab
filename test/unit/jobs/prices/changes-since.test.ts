import { expect, test } from "vitest";
import { priceChanges } from "../../../../lib/jobs/prices/memory.ts";
import {
  ACCOUNT,
  createPriceWorld,
  GPU,
  HOUR_MS,
  START,
  WEB,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

test("changes since an instant read back to the last reading before it, and no further", async () => {
  let month = 0;
  const world = await createPriceWorld({
    between: () => async () => {
      month += 1;
      return Response.json({
        currency_code: "EUR",
        discount_percent: null,
        price_per_hour: null,
        price_per_month: month,
        price_status: "show",
        price_without_discount_per_month: null,
        tax_percent: 0,
      });
    },
  });
  for (let hour = 0; hour < 30; hour++) {
    await world.run({ watchlist: watchlistOf(GPU) });
    await world.clock.advance(HOUR_MS);
  }
  const reads: string[] = [];
  const ledger: typeof world.ledger = {
    ...world.ledger,
    read: (key) => {
      reads.push(key);
      return world.ledger.read(key);
    },
  };

  const changes = await priceChanges(ledger, ACCOUNT, START + 28 * HOUR_MS);

  expect(changes.map(({ number, before }) => [number, before.per_month])).toEqual([
    [30, "29"],
    [29, "28"],
  ]);
  expect(reads.filter((key) => key.startsWith("price-reading#"))).toEqual([
    "price-reading#acme/gpu/29",
    "price-reading#acme/gpu/28",
  ]);
});

test("changes since an instant start from the last shown price before it, however old", async () => {
  const world = await createPriceWorld({
    state: withLaterPrices(
      { starts_at: "2026-01-01T01:00:00Z", price_status: "hide" },
      { starts_at: "2026-01-01T02:00:00Z", external_ip: 0.03, price_status: "hide" },
      { starts_at: "2026-01-01T03:00:00Z", external_ip: 0.04 },
    ),
  });
  for (let hour = 0; hour < 4; hour++) {
    await world.run({ watchlist: watchlistOf(GPU) });
    await world.clock.advance(HOUR_MS);
  }

  const changes = await priceChanges(world.ledger, ACCOUNT, START + 3 * HOUR_MS);

  expect(changes).toMatchObject([
    { number: 4, before: { per_hour: "24.02" }, previousReadAt: "2026-01-01T00:00:00.000Z" },
  ]);
});

test("changes of one item read no other item", async () => {
  const world = await createPriceWorld({
    state: withLaterPrices({ starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03 }),
  });
  for (let hour = 0; hour < 2; hour++) {
    await world.run({ watchlist: watchlistOf(GPU, WEB) });
    await world.clock.advance(HOUR_MS);
  }
  const reads: string[] = [];
  const ledger: typeof world.ledger = {
    ...world.ledger,
    read: (key) => {
      reads.push(key);
      return world.ledger.read(key);
    },
  };

  const changes = await priceChanges(ledger, ACCOUNT, START, "web");

  expect(changes.map(({ name, number }) => [name, number])).toEqual([["web", 2]]);
  expect(reads).toEqual(["price#acme/web", "price-reading#acme/web/1"]);
});
