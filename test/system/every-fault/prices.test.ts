import { expect } from "vitest";
import {
  DDOS,
  GPU,
  HOUR_MS,
  LOST,
  watchlistOf,
  withLaterPrices,
} from "../../unit/jobs/prices/price-world.ts";
import { describeScenarios } from "./laws.ts";

// The scheduled job that records prices.
describeScenarios([
  {
    name: "prices of three hours: one cannot be read, and one changes after it was hidden",
    watchlist: watchlistOf(GPU, LOST, DDOS),
    state: withLaterPrices(
      { starts_at: "2026-01-01T01:00:00Z", external_ip: 0.03, price_status: "hide" },
      { starts_at: "2026-01-01T02:00:00Z", external_ip: 0.04 },
    ),
    async course(cloud) {
      cloud.tick("snapshot-prices");
      await cloud.pass(HOUR_MS);
      cloud.tick("snapshot-prices");
      await cloud.pass(HOUR_MS);
      cloud.tick("snapshot-prices");
    },
    end(cloud) {
      const published = (type: string) =>
        cloud.bus.published().flatMap(({ detailType, data }) => (detailType === type ? data : []));
      expect(published("PricesCaptured").map(({ first, failed }) => [first, failed])).toEqual([
        [2, 1],
        [0, 1],
        [0, 1],
      ]);
      expect(published("PriceChanged")).toMatchObject([
        { name: "gpu", number: 3, percent: "0.08" },
      ]);
    },
    mayDiffer: [],
  },
]);
