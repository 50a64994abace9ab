import { createSyncThresholds } from "../../lib/skyhook.ts";
import { composeJob, createConfigSource, deployed } from "../compose.ts";
import { configSettingsSchema } from "../settings.ts";

/** Makes the provider's thresholds equal to the thresholds file. */
export const handler = await deployed(configSettingsSchema, (settings) => {
  const { ports, config } = composeJob(settings);
  return createSyncThresholds({ ...ports, thresholds: createConfigSource(settings) }, config);
});
