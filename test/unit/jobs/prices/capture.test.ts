import { describe, expect, test } from "vitest";
import { priceItems, priceRuns } from "../../../../lib/jobs/prices/price.ts";
import { ACCOUNT, createPriceWorld, HOUR_MS, START, withLaterPrices } from "./price-world.ts";

const FIRST_BUCKET = "2026-01-01T00:00:00.000Z";
/** DDoS protection costs 2 a day; from one o'clock on 2.25, which is 12.5 % more. */
const dearerFromOne = withLaterPrices({
  starts_at: "2026-01-01T01:00:00Z",
  ddos: {
    feature_name: "Advanced DDoS Protection Bare-metal Servers",
    unit_name: "PC",
    unit_size: 1,
    price_currency: "EUR",
    price_per_day: 2.25,
  },
});

describe("the first run", () => {
  test("keeps a reading of each kind of item", async () => {
    const world = await createPriceWorld();

    await world.run();

    const { fingerprint, ...item } = (await world.item("ddos"))!;
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(item).toEqual({
      account: ACCOUNT,
      name: "ddos",
      kind: "ddos",
      latest: {
        number: 1,
        kind: "ddos",
        fingerprint,
        readAt: START,
        lastSeenAt: START,
        reading: {
          status: "show",
          currency: "EUR",
          amounts: {
            price_per_hour: "0.08333333333333333",
            price_per_day: "2",
            price_per_30d: "60",
            unit_size: "1",
          },
        },
      },
      lastRun: { bucket: FIRST_BUCKET, outcome: "first" },
      outbox: [],
    });
    for (const name of ["k8s", "gpu", "web"]) {
      expect(await world.item(name)).toMatchObject({ latest: { number: 1 }, name });
    }
  });

  test("publishes one PricesCaptured and no PriceChanged", async () => {
    const world = await createPriceWorld();

    await world.run();

    expect(world.published("PriceChanged")).toEqual([]);
    expect(world.published("PricesCaptured")).toMatchObject([
      {
        metadata: {
          account: ACCOUNT,
          correlationId: `prices/${ACCOUNT}/${FIRST_BUCKET}`,
          causationId: `prices/${ACCOUNT}/${FIRST_BUCKET}`,
        },
        data: {
          bucket: FIRST_BUCKET,
          items: 4,
          first: 4,
          changed: 0,
          unchanged: 0,
          notCompared: 0,
          failed: 0,
          failures: [],
        },
      },
    ]);
  });

  test("leaves nothing due", async () => {
    const world = await createPriceWorld();

    await world.run();

    expect(await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  test("has a record that expires like those of commands; prices never expire", async () => {
    const world = await createPriceWorld();

    await world.run();

    const run = await world.ledger.read(`${priceRuns.kind}#${ACCOUNT}/${FIRST_BUCKET}`);
    const item = await world.ledger.read(`${priceItems.kind}#${ACCOUNT}/ddos`);
    expect(run?.expiresAt).toBe(START + 60 * 24 * HOUR_MS);
    expect(item?.expiresAt).toBeUndefined();
  });
});

describe("a second run for the same period", () => {
  test("stores and publishes nothing, even if prices have changed", async () => {
    const world = await createPriceWorld({ state: dearerFromOne });
    await world.run();
    const before = await world.item("ddos");
    await world.clock.advance(HOUR_MS);

    await world.run({ scheduledAt: START + HOUR_MS - 1 });

    expect(await world.item("ddos")).toEqual(before);
    expect(world.bus.published()).toHaveLength(1);
  });

  test("asks for neither the watchlist nor a price", async () => {
    const calls: string[] = [];
    const world = await createPriceWorld({
      around: ({ name }, effect) => {
        calls.push(name);
        return effect();
      },
    });
    await world.run();
    calls.length = 0;

    await world.run();

    expect(calls.filter((name) => !name.startsWith("ledger.read"))).toEqual([]);
  });
});

describe("a later run", () => {
  test("only records when it last saw an unchanged price", async () => {
    const world = await createPriceWorld();
    await world.run();
    await world.clock.advance(HOUR_MS);

    await world.run();

    expect(await world.item("k8s")).toMatchObject({
      latest: { number: 1, readAt: START, lastSeenAt: START + HOUR_MS },
      lastRun: { bucket: "2026-01-01T01:00:00.000Z", outcome: "unchanged" },
    });
    expect(await world.reading("k8s", 1)).toBeUndefined();
    expect(world.published("PriceChanged")).toEqual([]);
    expect(world.published("PricesCaptured")[1]?.data).toMatchObject({ unchanged: 4, first: 0 });
  });

  test("reads and writes an unchanged item once", async () => {
    const calls: string[] = [];
    const world = await createPriceWorld({
      around: ({ name }, effect) => {
        calls.push(name);
        return effect();
      },
    });
    await world.run();
    await world.clock.advance(HOUR_MS);
    calls.length = 0;

    await world.run();

    expect(calls.filter((name) => name.endsWith(" price#acme/gpu"))).toEqual([
      "ledger.read price#acme/gpu",
      "ledger.write price#acme/gpu",
    ]);
  });

  test("stores and publishes a price that has changed, and keeps the earlier one", async () => {
    const world = await createPriceWorld({ state: dearerFromOne });
    await world.run();
    await world.clock.advance(HOUR_MS);

    await world.run();

    expect(world.published("PriceChanged")).toMatchObject([
      {
        metadata: { account: ACCOUNT, correlationId: "prices/acme/2026-01-01T01:00:00.000Z" },
        data: {
          name: "ddos",
          kind: "ddos",
          number: 2,
          before: { currency: "EUR", per_hour: "0.08333333333333333", per_month: "60" },
          after: { currency: "EUR", per_hour: "0.09375", per_month: "67.5" },
          percent: "12.50",
          percentNumber: 12.5,
          categories: [
            { category: "price_per_hour", before: "0.08333333333333333", after: "0.09375" },
            { category: "price_per_day", before: "2", after: "2.25" },
            { category: "price_per_30d", before: "60", after: "67.5" },
          ],
          categoryCount: 3,
          readAt: "2026-01-01T01:00:00.000Z",
          previousReadAt: "2026-01-01T00:00:00.000Z",
        },
      },
    ]);
    expect(world.published("PricesCaptured")[1]?.data).toMatchObject({ changed: 1, unchanged: 3 });
    expect(await world.item("ddos")).toMatchObject({
      latest: { number: 2, lastSeenAt: 1767229200000 },
    });
    expect(await world.reading("ddos", 1)).toMatchObject({
      reading: { amounts: { price_per_day: "2" } },
      lastSeenAt: START,
    });
  });

  test("keeps the time at which an earlier reading was last seen", async () => {
    const world = await createPriceWorld({
      state: withLaterPrices({ starts_at: "2026-01-01T02:00:00Z", external_ip: 0.03 }),
    });
    await world.run();
    await world.clock.advance(HOUR_MS);
    await world.run();
    await world.clock.advance(HOUR_MS);

    await world.run();

    expect(await world.reading("gpu", 1)).toMatchObject({
      readAt: START,
      lastSeenAt: START + HOUR_MS,
    });
  });
});
