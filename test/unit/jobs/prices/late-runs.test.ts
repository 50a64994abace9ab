import { expect, test } from "vitest";
import { createGate } from "../../../support/gate.ts";
import { createHold } from "./hold.ts";
import { expectSound } from "./price-laws.ts";
import {
  createPriceWorld,
  GPU,
  HOUR_MS,
  LOST,
  type PriceWorld,
  START,
  watchlistOf,
} from "./price-world.ts";

/** A GPU server with a price that the test sets, in a world where one invocation can be held. */
const createPricedWorld = async (hold: ReturnType<typeof createHold>) => {
  let month = 10;
  const world = await createPriceWorld({
    around: hold.around,
    between: () => async () =>
      Response.json({
        currency_code: "EUR",
        discount_percent: null,
        price_per_hour: null,
        price_per_month: month,
        price_status: "show",
        price_without_discount_per_month: null,
        tax_percent: 0,
      }),
  });
  return {
    world,
    set: (perMonth: number) => {
      month = perMonth;
    },
  };
};

/** Each change once, as seen by a subscriber that drops repeated events. */
const stepsTold = (world: PriceWorld): readonly string[] => {
  const published = new Map(world.published("PriceChanged").map(({ id, data }) => [id, data]));
  return [...published.values()].map(
    ({ number, before, after }) => `${number}: ${before.per_month} to ${after.per_month}`,
  );
};

const gpuAlone = watchlistOf(GPU);

test("a run that ends after one of a later period publishes no change backwards, wherever they meet", async () => {
  for (let nth = 1; ; nth++) {
    const hold = createHold(2, nth);
    const { world, set } = await createPricedWorld(hold);
    await world.run({ watchlist: gpuAlone });
    await world.clock.advance(HOUR_MS);
    const late = world.run({ watchlist: gpuAlone, durationMs: 2 * HOUR_MS });
    const wasHeld = await Promise.race([hold.reached.then(() => true), late.then(() => false)]);
    if (!wasHeld) break;
    await world.clock.advance(HOUR_MS);
    set(12);
    await world.run({ watchlist: gpuAlone });
    hold.open();
    await late;
    try {
      expect(stepsTold(world)).toEqual(["2: 10 to 12"]);
      expect((await world.item("gpu"))?.lastRun.bucket).toBe("2026-01-01T02:00:00.000Z");
      expect(world.published("PricesCaptured")).toHaveLength(3);
      await expectSound(world);
    } catch (error) {
      throw new Error(`held at call ${nth}`, { cause: error });
    }
  }
});

test("a run continues from the records of one of an earlier period, wherever they meet", async () => {
  for (let nth = 1; ; nth++) {
    const hold = createHold(2, nth);
    const { world, set } = await createPricedWorld(hold);
    await world.run({ watchlist: gpuAlone });
    await world.clock.advance(2 * HOUR_MS);
    set(12);
    const later = world.run({ watchlist: gpuAlone });
    const wasHeld = await Promise.race([hold.reached.then(() => true), later.then(() => false)]);
    if (!wasHeld) break;
    const isRecorded = (await world.item("gpu"))?.lastRun.outcome === "changed";
    set(11);
    await world.run({ watchlist: gpuAlone, scheduledAt: START + HOUR_MS });
    set(12);
    hold.open();
    await later;
    try {
      expect(stepsTold(world)).toEqual(
        isRecorded ? ["2: 10 to 12"] : ["2: 10 to 11", "3: 11 to 12"],
      );
      expect((await world.item("gpu"))?.lastRun.bucket).toBe("2026-01-01T02:00:00.000Z");
      await expectSound(world);
    } catch (error) {
      throw new Error(`held at call ${nth}`, { cause: error });
    }
  }
});

test("an item that a later run recorded as failed is not changed by an earlier run", async () => {
  const world = await createPriceWorld();
  await world.run({ watchlist: watchlistOf(LOST), scheduledAt: START + HOUR_MS });
  const before = await world.item("lost");

  await world.run({ watchlist: watchlistOf(LOST.replace("no-such-cluster", "my-cluster")) });

  expect(await world.item("lost")).toEqual(before);
  expect(world.published("PricesCaptured")[1]?.data).toMatchObject({
    bucket: new Date(START).toISOString(),
    failed: 1,
  });
});

test("a price that two runs saw has the later run's last-seen time, whichever writes last", async () => {
  const gate = createGate();
  const world = await createPriceWorld({ around: gate.around });
  await world.run({ watchlist: gpuAlone });
  await world.clock.advance(2 * HOUR_MS);
  const { reached, open } = gate.hold("ledger.write price#");
  const slow = world.run({ watchlist: gpuAlone });
  await reached;
  await world.clock.advance(1_000);
  await world.run({ watchlist: gpuAlone, scheduledAt: START + HOUR_MS });
  open();

  await slow;

  expect(await world.item("gpu")).toMatchObject({
    latest: { lastSeenAt: START + 2 * HOUR_MS + 1_000 },
    lastRun: { bucket: "2026-01-01T02:00:00.000Z", outcome: "unchanged" },
  });
});
