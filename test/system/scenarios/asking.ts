import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import { createSystemClock } from "../../../lib/platform/system.ts";
import { type Client, createClient } from "../../../lib/provider/client.ts";
import type { Published, Stage } from "./stage.ts";

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

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"]);

/** Whether an event tells how a command ended, or that it is none. */
export const isEndOf =
  (sender: string, commandId: string) =>
  ({ "detail-type": type, detail: { metadata } }: Published): boolean =>
    ENDS.has(type) && metadata.commandId === commandId && metadata.sender === sender;

/** @param sender absent: our own AWS account */
export const commandEnd = (
  { events, ownSender }: Stage,
  commandId: string,
  sender = ownSender,
): Promise<Published> => events.first(`the end of ${commandId}`, isEndOf(sender, commandId));

/** @throws Error when the command does not succeed in time */
export const successOf = ({ events }: Stage, commandId: string): Promise<Published> =>
  events.first(
    `the success of ${commandId}`,
    ({ "detail-type": type, detail }) =>
      type === "CommandSucceeded" && detail.metadata.commandId === commandId,
  );

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
