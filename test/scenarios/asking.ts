import { type Client, createClient } from "../../lib/client/client.ts";
import type { JsonObject } from "../../lib/ports/ledger.ts";
import { createSystemClock } from "../../lib/system/system-clock.ts";
import type { Stage } from "./stage.ts";

const ATTEMPT_TIMEOUT_MS = 10_000;

/** Puts a command on the stage's queue; its message group is the command itself. */
export const sendCommand = (
  stage: Stage,
  commandId: string,
  data: JsonObject,
  eventId = commandId,
): Promise<void> => {
  const body = { metadata: { id: eventId, commandId, correlationId: `of ${commandId}` }, data };
  return stage.send(body, String(data.operation), eventId);
};

/** The stage's provider, asked past Skyhook. */
export const clientOf = ({ provider: { baseUrl, apiKey } }: Stage): Client =>
  createClient({
    baseUrl,
    apiKey: async () => apiKey,
    fetch,
    clock: createSystemClock(),
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
