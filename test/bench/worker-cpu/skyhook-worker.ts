import { composeCommands, deployed } from "../../../functions/compose.ts";
import { commandSettingsSchema } from "../../../functions/settings.ts";
import { sealRequest } from "../../../lib/engine/queue-message.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import type { EventBus } from "../../../lib/platform/ports/bus.ts";
import { createRunCommands } from "../../../lib/skyhook.ts";
import { PLACE, requestOf } from "../../support/requests.ts";
import { CHANGE, SECRET, serveParts } from "./worker.ts";

/* The deployed run-commands handler, except for its bus. */

let successes = 0;
const bus: EventBus = {
  async publish(entries) {
    successes += entries.filter(({ detailType }) => detailType === "CommandSucceeded").length;
    return entries.map(() => ({ kind: "published" }));
  },
};

const handler = await deployed(commandSettingsSchema, async (settings) => {
  const { ports, config } = await composeCommands(settings);
  return createRunCommands({ ...ports, bus }, config);
});

/** The message that intake makes of a `CommandRequested`. */
const bodyOf = (number: number): string => {
  const params = { ...PLACE, policy_id: number };
  const detail = requestOf(`c${number}`, { operation: "update-policy", params, body: CHANGE });
  const request = { sender: LOCAL_SENDER, eventId: `e${number}`, detail: JSON.stringify(detail) };
  return sealRequest(request, SECRET);
};

serveParts({ handler, bodyOf, successes: () => successes });
