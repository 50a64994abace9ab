import { createPollTasks } from "../../lib/skyhook.ts";
import { composeCommands, deployed } from "../compose.ts";
import { commandSettingsSchema } from "../settings.ts";

/** Follows tasks, retries commands and hands lanes over. */
export const handler = await deployed(commandSettingsSchema, async (settings) => {
  const { ports, config } = await composeCommands(settings);
  return createPollTasks(ports, config);
});
