import { expect, test } from "vitest";
import {
  createPriceWorld,
  GPU,
  HOUR_MS,
  type PriceWorld,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

const hourOf = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();

/** One run an hour over a GPU server; the test sets its status and the price of its address. */
const runHours = async (
  hours: readonly { readonly external_ip: number; readonly price_status?: "hide" | "error" }[],
): Promise<PriceWorld> => {
  const later = hours.map(({ external_ip, price_status = "show" as const }, hour) => ({
    starts_at: hourOf(hour),
    external_ip,
    price_status,
  }));
  const world = await createPriceWorld({ state: withLaterPrices(...later) });
  for (const _ of hours) {
    await world.run({ watchlist: watchlistOf(GPU) });
    await world.clock.advance(HOUR_MS);
  }
  return world;
};

const outcomesOf = (world: PriceWorld): readonly string[] =>
  world.published("PricesCaptured").map(({ data }) => {
    const names = ["first", "changed", "unchanged", "notCompared", "failed"];
    return names.filter((name) => data[name] === 1).join();
  });

test.each(["hide", "error"] as const)(
  "a price of status %s is kept but not compared; the next shown price is compared with the last shown one",
  async (price_status) => {
    const world = await runHours([
      { external_ip: 0.02 },
      { external_ip: 0.5, price_status },
      { external_ip: 6.025 },
    ]);

    expect(outcomesOf(world)).toEqual(["first", "notCompared", "changed"]);
    expect(world.published("PriceChanged")).toMatchObject([
      {
        data: {
          number: 3,
          before: { per_hour: "24.02" },
          after: { per_hour: "30.025" },
          percent: "25.00",
          previousReadAt: "2026-01-01T00:00:00.000Z",
        },
      },
    ]);
    expect(await world.reading("gpu", 2)).toMatchObject({
      reading: { status: price_status, amounts: { "total.per_hour": "24.5" } },
    });
  },
);

test("a price that is shown again unchanged is kept, and is no change", async () => {
  const world = await runHours([
    { external_ip: 0.02 },
    { external_ip: 0.02, price_status: "hide" },
    { external_ip: 0.02 },
  ]);

  expect(outcomesOf(world)).toEqual(["first", "notCompared", "unchanged"]);
  expect(world.published("PriceChanged")).toEqual([]);
  expect(await world.item("gpu")).toMatchObject({ latest: { number: 3 } });
});

test("a price that stays hidden is kept once", async () => {
  const world = await runHours([
    { external_ip: 0.02 },
    { external_ip: 0.02, price_status: "hide" },
    { external_ip: 0.02, price_status: "hide" },
    { external_ip: 0.03 },
  ]);

  expect(outcomesOf(world)).toEqual(["first", "notCompared", "notCompared", "changed"]);
  expect(await world.reading("gpu", 2)).toMatchObject({
    readAt: Date.parse(hourOf(1)),
    lastSeenAt: Date.parse(hourOf(2)),
  });
  expect(await world.item("gpu")).toMatchObject({ latest: { number: 3 } });
});

test("the first shown price counts as the first, after any number of hidden ones", async () => {
  const world = await runHours([
    { external_ip: 0.02, price_status: "hide" },
    { external_ip: 0.03, price_status: "error" },
    { external_ip: 0.04 },
  ]);

  expect(outcomesOf(world)).toEqual(["notCompared", "notCompared", "first"]);
  expect(world.published("PriceChanged")).toEqual([]);
});

test("another order while a price is hidden is compared with nothing", async () => {
  const world = await createPriceWorld({
    state: withLaterPrices(
      { starts_at: hourOf(1), price_status: "hide" },
      { starts_at: hourOf(2), external_ip: 0.03 },
    ),
  });
  const ordered = (name: string) =>
    watchlistOf(
      `{ name: a, instance: { project_id: 1234567, region_id: 76, body: { flavor: g1-standard-1-2, names: [${name}], interfaces: [{ type: external }] } } }`,
    );
  await world.run({ watchlist: ordered("x") });
  await world.clock.advance(HOUR_MS);
  await world.run({ watchlist: ordered("y") });
  await world.clock.advance(HOUR_MS);

  await world.run({ watchlist: ordered("x") });

  expect(outcomesOf(world)).toEqual(["first", "notCompared", "first"]);
});
