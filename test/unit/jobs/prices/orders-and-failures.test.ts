import { describe, expect, test } from "vitest";
import { listPrices } from "../../../../lib/jobs/prices/memory.ts";
import {
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  K8S,
  LOST,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

describe("another order under a known name", () => {
  const orderOf = (flavor: string) =>
    `{ name: web, instance: { project_id: 1234567, region_id: 76, body: { flavor: ${flavor}, names: [a], interfaces: [] } } }`;

  test("starts a new history: it has the next number and is compared with nothing", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf(orderOf("g1-standard-1-2")) });
    await world.clock.advance(HOUR_MS);

    await world.run({ watchlist: watchlistOf(orderOf("g1-standard-2-4")) });

    expect(world.published("PriceChanged")).toEqual([]);
    expect(world.published("PricesCaptured")[1]?.data).toMatchObject({ first: 1, changed: 0 });
    expect(await world.item("web")).toMatchObject({
      latest: { number: 2, reading: { amounts: { "total.per_month": "28.8" } } },
      lastRun: { outcome: "first" },
    });
    expect(await world.reading("web", 1)).toMatchObject({
      reading: { amounts: { "total.per_month": "14.4" } },
    });
  });

  test("is kept even when it costs the same", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf(orderOf("g1-standard-2-4")) });
    await world.clock.advance(HOUR_MS);
    const renamed = orderOf("g1-standard-2-4").replace("names: [a]", "names: [b]");

    await world.run({ watchlist: watchlistOf(renamed) });

    expect(await world.item("web")).toMatchObject({
      latest: { number: 2, reading: { amounts: { "total.per_month": "28.8" } } },
      lastRun: { outcome: "first" },
    });
  });

  test("is recognised as the same order in any notation", async () => {
    const world = await createPriceWorld();
    await world.run({ watchlist: watchlistOf(GPU) });
    await world.clock.advance(HOUR_MS);
    const written = {
      items: [
        {
          gpu_cluster: {
            server_id: "F1C1EEB6-1834-48C9-A7B0-DAAFCE64872B",
            region_id: 76,
            project_id: 1234567,
          },
          name: "gpu",
        },
      ],
    };

    await world.run({ watchlist: JSON.stringify(written) });

    expect(await world.item("gpu")).toMatchObject({
      latest: { number: 1 },
      lastRun: { outcome: "unchanged" },
    });
  });
});

describe("an item that fails", () => {
  test("is recorded with the provider's reason and stops no other", async () => {
    const world = await createPriceWorld();

    await world.run({ watchlist: watchlistOf(DDOS, LOST, K8S) });

    const problem = "get-k8s-cluster-price: 404 not-found: cluster not found";
    expect(world.published("PricesCaptured")[0]?.data).toMatchObject({
      items: 3,
      first: 2,
      failed: 1,
      failures: [{ name: "lost", problem }],
    });
    expect(await world.item("lost")).toMatchObject({
      kind: "k8s_cluster",
      lastRun: { outcome: "failed", problem },
    });
    expect(await world.item("lost")).not.toHaveProperty("latest");
  });

  test("lists every field that the provider refuses", async () => {
    const world = await createPriceWorld();
    const unknown =
      "{ name: a, instance: { project_id: 1234567, region_id: 76, body: { flavor: none, names: [a], interfaces: [] } } }";

    await world.run({ watchlist: watchlistOf(unknown) });

    expect((await world.item("a"))?.lastRun.problem).toMatch(
      /^preview-instance-price: 400 refused: .*; flavor: is not offered in this region$/,
    );
  });

  test("keeps its readings, and is compared with them once it works again", async () => {
    let isDown = false;
    const world = await createPriceWorld({
      state: withLaterPrices({ starts_at: "2026-01-01T02:00:00Z", external_ip: 0.03 }),
      between: (service) => async (request) =>
        isDown ? new Response("no", { status: 403 }) : service(request),
    });
    const watchlist = watchlistOf(GPU);
    await world.run({ watchlist });
    isDown = true;
    await world.clock.advance(HOUR_MS);
    await world.run({ watchlist });
    isDown = false;
    await world.clock.advance(HOUR_MS);

    await world.run({ watchlist });

    expect(
      world.published("PricesCaptured").map(({ data }) => [data.first, data.failed, data.changed]),
    ).toEqual([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]);
    expect(world.published("PriceChanged")[0]?.data).toMatchObject({ number: 2, percent: "0.04" });
  });
});

describe("an item with a record that the ledger refuses", () => {
  const createRefusingWorld = async () => {
    let isRefused = true;
    const world = await createPriceWorld({
      around: async ({ name }, effect) => {
        if (isRefused && name === "ledger.write price#acme/k8s") throw new Error("ledger is away");
        return effect();
      },
    });
    return {
      world,
      recover: () => {
        isRefused = false;
      },
    };
  };
  const watchlist = watchlistOf(DDOS, K8S, GPU);

  test("stops no other, and fails the run, which is retried and not published", async () => {
    const { world } = await createRefusingWorld();

    await expect(world.run({ watchlist })).rejects.toThrow("ledger is away");

    expect(await world.item("ddos")).toMatchObject({ lastRun: { outcome: "first" } });
    expect(await world.item("gpu")).toMatchObject({ lastRun: { outcome: "first" } });
    expect(world.published("PricesCaptured")).toEqual([]);
  });

  test("is the only work left for the retry once the ledger accepts it", async () => {
    const { world, recover } = await createRefusingWorld();
    await world.run({ watchlist }).catch(() => undefined);
    recover();

    await world.run({ watchlist });

    expect(world.published("PricesCaptured")).toMatchObject([{ data: { items: 3, first: 3 } }]);
  });
});

test("an item of a newer version fails alone, in runs and in views", async () => {
  const world = await createPriceWorld();
  await world.run();
  const key = "price#acme/ddos";
  const version = ((await world.ledger.read(key))?.version ?? 0) + 1;
  const newer = { key, version, value: { lastRun: { outcome: "newer" } } };
  await world.ledger.write(newer);
  const shown = (await listPrices(world.ledger, "acme")).map(({ name }) => name);
  await world.clock.advance(HOUR_MS);

  await world.run();

  const [before, after] = world.published("PricesCaptured");
  expect(after?.data).toMatchObject({ failed: Number(before?.data.failed) + 1 });
  expect(shown).not.toContain("ddos");
  expect(shown.length).toBeGreaterThan(0);
  expect(await world.ledger.read(key)).toMatchObject(newer);
});
