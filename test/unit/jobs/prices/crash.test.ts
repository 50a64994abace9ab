import { expect, test } from "vitest";
import { createFaults } from "../../../support/faults.ts";
import { expectSound } from "./price-laws.ts";
import {
  createPriceWorld,
  DDOS,
  GPU,
  HOUR_MS,
  LOST,
  START,
  watchlistOf,
  withLaterPrices,
} from "./price-world.ts";

const RUNS = 3;

/** Three runs over changing prices, one of them hidden in between; a run may be killed once. */
const runScenario = async (killedAt?: number) => {
  const faults = createFaults();
  if (killedAt !== undefined) faults.strike(killedAt, "killed");
  const world = await createPriceWorld({
    around: faults.around,
    state: withLaterPrices(
      { starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03, price_status: "hide" },
      { starts_at: "2026-01-01T02:00:00Z", external_ip: 0.04 },
    ),
  });
  const watchlist = watchlistOf(GPU, LOST, DDOS);
  for (let run = 0; run < RUNS; run++) {
    const scheduledAt = START + run * HOUR_MS;
    await world.clock.advance(Math.max(0, scheduledAt - world.clock.now()));
    await world.run({ watchlist, scheduledAt }).catch(() => undefined);
    await world.publishDue().catch(() => world.publishDue());
  }
  return { world, faults };
};

/** Reads change nothing, so one killed read represents those that follow each other. */
const stepsOf = (calls: readonly string[]): readonly number[] =>
  calls.flatMap((call, index) => {
    const isRead = call.startsWith("ledger.read") || call === "source.read";
    const follows = calls[index - 1]?.startsWith("ledger.read") ?? false;
    return isRead && follows ? [] : [index + 1];
  });

test("a killed run without a retry loses no change: the next run publishes it", async () => {
  const clean = await runScenario();

  for (const nth of stepsOf(clean.faults.calls)) {
    const { world } = await runScenario(nth);
    try {
      await expectSound(world);
    } catch (error) {
      throw new Error(`killed at call ${nth}, ${clean.faults.calls[nth - 1]}`, { cause: error });
    }
  }
});

test("a reading that was copied too early is copied again with its last-seen time", async () => {
  let isKilled = false;
  const world = await createPriceWorld({
    around: async ({ name }, effect) => {
      if (isKilled && name === "ledger.write price#acme/gpu") throw new Error("killed");
      return effect();
    },
    state: withLaterPrices(
      { starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03 },
      { starts_at: "2026-01-01T02:00:00Z" },
      { starts_at: "2026-01-01T03:00:00Z", external_ip: 0.04 },
    ),
  });
  const watchlist = watchlistOf(GPU);
  await world.run({ watchlist });
  await world.clock.advance(HOUR_MS);
  isKilled = true;
  await expect(world.run({ watchlist })).rejects.toThrow("killed");
  isKilled = false;
  expect(await world.reading("gpu", 1)).toMatchObject({ lastSeenAt: START });
  await world.clock.advance(HOUR_MS);
  await world.run({ watchlist });
  await world.clock.advance(HOUR_MS);

  await world.run({ watchlist });

  expect(await world.reading("gpu", 1)).toMatchObject({ lastSeenAt: START + 2 * HOUR_MS });
  expect(world.published("PriceChanged")).toMatchObject([{ data: { number: 2, percent: "0.08" } }]);
});
