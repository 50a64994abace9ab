import { createWatchAiTasks } from "../../lib/skyhook.ts";
import { composeJob, deployed } from "../compose.ts";
import { aiTaskSettingsSchema } from "../settings.ts";

/** Publishes the ends of AI tasks. */
export const handler = await deployed(aiTaskSettingsSchema, (settings) => {
  const { ports, config } = composeJob(settings);
  return createWatchAiTasks(ports, { ...config, aiTaskName: settings.AI_TASK_NAME });
});
