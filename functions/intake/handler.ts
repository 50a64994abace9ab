import { parseReactions } from "../../lib/intake/reactions-config.ts";
import { SettingsError } from "../../lib/platform/lambda/settings.ts";
import { createIntake } from "../../lib/skyhook.ts";
import {
  createPorts,
  createQueue,
  deployed,
  readAccounts,
  readPackagedJson,
  requestConfigOf,
} from "../compose.ts";
import { intakeSettingsSchema } from "../settings.ts";

/** Authorises events and enqueues commands. */
export const handler = await deployed(intakeSettingsSchema, async (settings) => {
  const { LAMBDA_TASK_ROOT, REACTIONS_FILE, EVENT_SOURCE: eventSource } = settings;
  const ports = createPorts(settings);
  const accounts = readAccounts(settings);
  const file = readPackagedJson(LAMBDA_TASK_ROOT, REACTIONS_FILE, "REACTIONS_FILE");
  const reactions = parseReactions(file, { accounts, eventSource });
  if (reactions.kind === "invalid") throw new SettingsError(reactions.problems);
  return createIntake(
    { ...ports, queue: createQueue(settings) },
    {
      ...(await requestConfigOf(settings, accounts, ports)),
      eventSource,
      reactions: reactions.value,
    },
  );
});
