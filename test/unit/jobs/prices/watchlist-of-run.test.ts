import { describe, expect, test } from "vitest";
import * as z from "zod";
import { priceNames } from "../../../../lib/jobs/prices/price.ts";
import {
  ACCOUNT,
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  K8S,
  START,
  watchlistOf,
} from "./price-world.ts";

const rejectedSchema = z.looseObject({ problems: z.array(z.unknown()) });

describe("the watchlist of a run", () => {
  test("that is missing leaves the run nothing to do, and the next run reads it again", async () => {
    const world = await createPriceWorld();

    await world.run({ watchlist: null });

    expect(world.bus.published()).toEqual([]);
    expect(world.log.lines).toMatchObject([
      { level: "info", fields: { account: ACCOUNT, source: "watchlist.yaml" } },
    ]);
    await world.run();
    expect(world.published("PricesCaptured")).toHaveLength(1);
  });

  test("that is invalid is published with its mistakes, once a run, and prices nothing", async () => {
    const world = await createPriceWorld();
    const bad = Array.from({ length: 101 }, (_, i) => `{ name: a ${i}, ddos: { region_id: 76 } }`);
    const watchlist = watchlistOf(DDOS, ...bad);

    await world.run({ watchlist });
    await world.run({ watchlist });

    const rule = "1 to 64 letters, digits, dots, underscores or hyphens";
    const [rejected, again, ...others] = world.bus.published();
    expect(again?.id).toBe(rejected?.id);
    expect(others).toEqual([]);
    expect(rejected?.data).toMatchObject({
      bucket: "2026-01-01T00:00:00.000Z",
      source: { name: "watchlist.yaml", version: "1" },
      problemCount: 101,
    });
    const { problems } = rejectedSchema.parse(rejected?.data);
    expect(problems).toHaveLength(100);
    expect(problems[0]).toEqual({ path: "items.1.name", rule, line: 3 });
    expect(world.metrics.counted).toEqual(["WatchlistRejected", "WatchlistRejected"]);
    expect(await world.item("ddos")).toBeUndefined();

    await world.run();
    expect(world.published("PricesCaptured")).toHaveLength(1);
  });

  test("that is empty is captured with no items", async () => {
    const world = await createPriceWorld();

    await world.run({ watchlist: "items: []" });

    expect(world.published("PricesCaptured")[0]?.data).toMatchObject({ items: 0 });
  });

  test("can drop an item without losing its readings", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf(DDOS, GPU) });
    await world.clock.advance(HOUR_MS);

    await world.run({ watchlist: watchlistOf(K8S) });

    const names = await priceNames.read(world.ledger, ACCOUNT);
    expect(names?.value.names).toEqual(["ddos", "gpu", "k8s"]);
    expect(await world.item("ddos")).toMatchObject({ latest: { lastSeenAt: START } });
  });

  test("with known names only does not write the list of names", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf(DDOS, GPU) });
    await world.clock.advance(HOUR_MS);

    await world.run({ watchlist: watchlistOf(GPU) });

    expect((await priceNames.read(world.ledger, ACCOUNT))?.version).toBe(1);
  });

  test("makes room for its names by dropping the oldest former ones", async () => {
    const world = await createPriceWorld();
    const former = ["ddos", ...Array.from({ length: 3_999 }, (_, index) => `former-${index}`)];
    await priceNames.write(world.ledger, ACCOUNT, undefined, { names: former });

    await world.run({ watchlist: watchlistOf(DDOS, GPU) });

    const names = (await priceNames.read(world.ledger, ACCOUNT))?.value.names ?? [];
    expect(names).toHaveLength(4_000);
    expect(names[0]).toBe("former-1");
    expect(names.slice(-2)).toEqual(["ddos", "gpu"]);
  });
});
