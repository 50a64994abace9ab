import { createRunCommands } from "../../lib/skyhook.ts";
import { composeCommands, deployed } from "../compose.ts";
import { commandSettingsSchema } from "../settings.ts";

/** Runs commands from the FIFO queue. */
export const handler = await deployed(commandSettingsSchema, async (settings) => {
  const { ports, config } = await composeCommands(settings);
  return createRunCommands(ports, config);
});
