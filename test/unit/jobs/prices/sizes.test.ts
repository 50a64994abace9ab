import { describe, expect, test } from "vitest";
import { priceItems } from "../../../../lib/jobs/prices/price.ts";
import {
  ACCOUNT,
  createPriceWorld,
  GPU,
  HOUR_MS,
  type PriceWorld,
  WEB,
  watchlistOf,
} from "./price-world.ts";

/** A reply to an order of instances, with unknown categories by hour and month. */
const orderPrice = (volumes: unknown, own: object = {}) => ({
  currency_code: "EUR",
  discount_details: [],
  discount_percent: "0",
  per_hour: { volumes },
  per_month: { volumes },
  price_status: "show",
  price_without_discount_per_month: null,
  tax_percent: 0,
  total_price_per_hour: 1,
  total_price_per_month: 720,
  ...own,
});

const LONGEST_NAME = "x".repeat(60);

/** The maximum of categories, with the longest names and amounts. */
const largestPrices = (digit: string) =>
  Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [
      `${LONGEST_NAME}${String(index).padStart(4, "0")}`,
      `-${digit}.${digit.repeat(39)}`,
    ]),
  );

const sizeOf = async (world: PriceWorld, name: string): Promise<number> =>
  Buffer.byteLength(
    JSON.stringify(await world.ledger.read(`${priceItems.kind}#${ACCOUNT}/${name}`)),
  );

describe("an amount", () => {
  const gpuPrice = (price_per_month: unknown) => ({
    currency_code: "EUR",
    discount_percent: 0,
    price_per_hour: null,
    price_per_month,
    price_status: "show",
    price_without_discount_per_month: null,
    tax_percent: 0,
  });

  test.each([
    ["a text of 110,000 digits", `1${"0".repeat(109_999)}`],
    ["a text of 41 digits", "9".repeat(41)],
    ["a text of 41 digits with a point and a sign", `-9.${"9".repeat(40)}`],
    ["a number that has 41 digits without its exponent", 1e40],
    ["a number of 41 decimal places", 1e-40],
  ])("that is %s fails the item, and its readings stay", async (_, amount) => {
    let month: unknown = "1";
    const world = await createPriceWorld({
      between: () => async () => Response.json(gpuPrice(month)),
    });
    await world.run({ watchlist: watchlistOf(GPU) });
    await world.clock.advance(HOUR_MS);
    month = amount;

    await world.run({ watchlist: watchlistOf(GPU) });

    expect(await world.item("gpu")).toMatchObject({
      latest: { number: 1, reading: { amounts: { "total.per_month": "1" } } },
      lastRun: {
        outcome: "failed",
        problem: "the reply has an amount of more than 40 digits",
      },
    });
    expect(world.published("PricesCaptured")[1]?.data).toMatchObject({ failed: 1 });
  });

  test("may have 40 digits, a point and a sign", async () => {
    const amount = `-9.${"9".repeat(39)}`;
    const world = await createPriceWorld({
      between: () => async () => Response.json(gpuPrice(amount)),
    });

    await world.run({ watchlist: watchlistOf(GPU) });

    expect((await world.item("gpu"))?.latest?.reading.amounts["total.per_month"]).toBe(amount);
  });
});

describe("the record of an item", () => {
  test("stays below 300 kB, and its event below 200 kB, for any reply", async () => {
    const replies = [
      orderPrice(largestPrices("1")),
      orderPrice(largestPrices("2")),
      orderPrice(largestPrices("3"), { price_status: "hide" }),
      orderPrice(largestPrices("4")),
      orderPrice(largestPrices("5"), { price_status: "error" }),
      orderPrice(largestPrices("6")),
      orderPrice(largestPrices("7")),
      orderPrice(largestPrices("8"), { price_status: "hide" }),
      orderPrice(largestPrices("9")),
    ];
    let reply: unknown;
    const world = await createPriceWorld({ between: () => async () => Response.json(reply) });
    world.bus.refuse(() => true);
    const sizes: number[] = [];

    for (reply of replies) {
      await world.run({ watchlist: watchlistOf(WEB) });
      await world.clock.advance(HOUR_MS);
      sizes.push(await sizeOf(world, "web"));
    }

    expect(Math.max(...sizes)).toBeLessThan(300_000);
    const events = (await world.item("web"))?.outbox ?? [];
    const eventSizes = events.map(({ detail }) => JSON.stringify(detail).length);
    expect(Math.max(...eventSizes)).toBeLessThan(200_000);
    expect(Math.min(...eventSizes)).toBeGreaterThan(20_000);
  });

  test("keeps the total and the first categories of a reply that is too large", async () => {
    const world = await createPriceWorld({
      between: () => async () => Response.json(orderPrice(largestPrices("1"))),
    });

    await world.run({ watchlist: watchlistOf(WEB) });

    const { amounts } = (await world.item("web"))!.latest!.reading;
    expect(amounts["total.per_month"]).toBe("720");
    expect(amounts[`per_hour.volumes.${LONGEST_NAME}0000`]).toMatch(/^-1\.1/);
    expect(Object.keys(amounts).length).toBeLessThan(2_000);
    expect(JSON.stringify(amounts).length).toBeGreaterThan(90_000);
    expect(JSON.stringify(amounts).length).toBeLessThan(100_000);
  });

  test("leaves out categories that are nested too deeply", async () => {
    const text = JSON.stringify(orderPrice({ standard: 1 })).replace(
      '"standard":1',
      `"standard":1,"deep":${'{"a":'.repeat(150)}1${"}".repeat(150)}`,
    );
    const world = await createPriceWorld({ between: () => async () => new Response(text) });

    await world.run({ watchlist: watchlistOf(WEB) });

    const { amounts } = (await world.item("web"))!.latest!.reading;
    expect(amounts["per_hour.volumes.standard"]).toBe("1");
    expect(Object.keys(amounts).filter((name) => name.includes("deep"))).toEqual([]);
  });
});

describe("an item with three unpublished changes", () => {
  const prices = [1, 2, 3, 4, 5, 6];

  /** A run for each price, with a bus that refuses changes. */
  const afterSilence = async () => {
    let volumes: unknown;
    let asked = 0;
    const world = await createPriceWorld({
      between: () => async () => {
        asked += 1;
        return Response.json(orderPrice(volumes));
      },
    });
    world.bus.refuse(({ detailType }) => detailType === "PriceChanged");
    for (const standard of prices) {
      volumes = { standard };
      await world.run({ watchlist: watchlistOf(WEB) });
      await world.clock.advance(HOUR_MS);
    }
    return { world, asked: () => asked };
  };

  test("is not priced until they are published, and records the reason", async () => {
    const { world, asked } = await afterSilence();

    expect(asked()).toBe(4);
    expect(await world.item("web")).toMatchObject({
      latest: { number: 4 },
      lastRun: {
        outcome: "failed",
        problem:
          "not read: 3 PriceChanged events of this item are not published yet; a run after that reads it",
      },
    });
    expect(world.published("PricesCaptured").at(-1)?.data).toMatchObject({ items: 1, failed: 1 });
  });

  test("loses none of them, and the next change starts from the last reading", async () => {
    const { world } = await afterSilence();
    world.bus.refuse(() => false);
    await world.publishDue();

    await world.run({ watchlist: watchlistOf(WEB) });

    const standard = world
      .published("PriceChanged")
      .map(({ data }) => [data.categories[0].before, data.categories[0].after]);
    expect(standard).toEqual([
      ["1", "2"],
      ["2", "3"],
      ["3", "4"],
      ["4", "6"],
    ]);
  });
});
