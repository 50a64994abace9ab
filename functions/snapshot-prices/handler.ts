import { createSnapshotPrices } from "../../lib/skyhook.ts";
import { composeJob, createConfigSource, deployed } from "../compose.ts";
import { priceSettingsSchema } from "../settings.ts";

/** Reads and stores the prices of the watchlist. */
export const handler = await deployed(priceSettingsSchema, (settings) => {
  const { ports, config } = composeJob(settings);
  return createSnapshotPrices(
    { ...ports, watchlist: createConfigSource(settings) },
    { ...config, pricePeriodMs: settings.PERIOD_SECONDS * 1000 },
  );
});
