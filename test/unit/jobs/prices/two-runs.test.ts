import { expect, test } from "vitest";
import { createHold } from "./hold.ts";
import { expectSound, remembered } from "./price-laws.ts";
import {
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  K8S,
  LOST,
  type PriceWorldOptions,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

const watchlist = watchlistOf(GPU, LOST, DDOS, K8S);

/**
 * A first run, then two for one later period: the first of the two waits at its nth call until the
 * second has ended.
 */
const runTwoAtOnce = async (nth: number, options: PriceWorldOptions = {}) => {
  const hold = createHold(2, nth);
  const world = await createPriceWorld({
    state: withLaterPrices({ starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03 }),
    ...options,
    around: hold.around,
  });
  await world.run({ watchlist });
  await world.clock.advance(HOUR_MS);
  const held = world.run({ watchlist });
  const wasHeld = await Promise.race([hold.reached.then(() => true), held.then(() => false)]);
  if (wasHeld) await world.run({ watchlist });
  hold.open();
  await held;
  return { world, wasHeld };
};

test("two runs at once store and publish the same as one run, wherever they meet", async () => {
  const alone = await runTwoAtOnce(Number.POSITIVE_INFINITY);
  const expected = await remembered(alone.world);
  expect(alone.wasHeld).toBe(false);

  for (let nth = 1; ; nth++) {
    const { world, wasHeld } = await runTwoAtOnce(nth);
    if (!wasHeld) break;
    try {
      expect(await remembered(world)).toEqual(expected);
      await expectSound(world);
    } catch (error) {
      throw new Error(`held at call ${nth}`, { cause: error });
    }
  }
});

test("two runs at once that read different prices keep one reading as a whole", async () => {
  for (let nth = 1; ; nth++) {
    let asked = 0;
    const { world, wasHeld } = await runTwoAtOnce(nth, {
      between: (service) => async (request) => {
        const reply = await service(request);
        if (!request.url.includes("/ai/clusters/")) return reply;
        asked += 1;
        const price = JSON.parse(await reply.text());
        return Response.json({ ...price, price_per_month: 100 * asked });
      },
    });
    if (!wasHeld) break;
    try {
      await expectSound(world);
      const [changed, ...more] = new Set(
        world
          .published("PriceChanged")
          .filter(({ data }) => data.name === "gpu")
          .map(({ data }) => data.after.per_month),
      );
      expect(more).toEqual([]);
      expect((await world.item("gpu"))?.latest).toMatchObject({
        number: 2,
        reading: { amounts: { "total.per_month": changed } },
      });
      expect(["200", "300"]).toContain(changed);
    } catch (error) {
      throw new Error(`held at call ${nth}`, { cause: error });
    }
  }
});
