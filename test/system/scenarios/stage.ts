import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import { createSystemClock } from "../../../lib/platform/system.ts";
import { type Client, createClient } from "../../../lib/provider/client.ts";

export interface EventLog {
  add(event: Published): void;
  /** The arrived events that match, each once: delivery is at least once. */
  all(fits: (event: Published) => boolean): readonly Published[];
  /**
   * Waits for the first event that matches.
   * @param what its name in the error
   * @param limitMs absent: the limit of the log
   * @throws Error with the last events when it does not arrive in time
   */
  first(what: string, fits: (event: Published) => boolean, limitMs?: number): Promise<Published>;
}

const POLL_MS = 50;

const line = ({ "detail-type": type, detail: { metadata, data } }: Published): string =>
  `${type} ${metadata.commandId ?? ""} ${JSON.stringify(data).slice(0, 300)}`;

/** @param usualLimitMs time limit for the arrival of an event */
export const createEventLog = (usualLimitMs: number): EventLog => {
  const arrived = new Map<string, Published>();
  const all: EventLog["all"] = (fits) => [...arrived.values()].filter(fits);
  return {
    add(event) {
      const { id } = event.detail.metadata;
      if (!arrived.has(id)) arrived.set(id, event);
    },
    all,
    async first(what, fits, limitMs = usualLimitMs) {
      const endsAt = performance.now() + limitMs;
      while (performance.now() < endsAt) {
        const [found] = all(fits);
        if (found) return found;
        await sleep(POLL_MS);
      }
      const last = [...arrived.values()].slice(-20).map(line).join("\n");
      throw new Error(
        `${what} did not arrive within ${limitMs / 1000} s; the last events were:\n${last}`,
      );
    },
  };
};

export const publishedSchema = z.object({
  id: z.string(),
  source: z.string(),
  account: z.string(),
  "detail-type": z.string(),
  detail: z.object({
    metadata: z.looseObject({
      id: z.string(),
      commandId: z.string().optional(),
      correlationId: z.string().optional(),
      sender: z.string().optional(),
    }),
    // Scenarios read data of every event.
    data: z.record(z.string(), z.any()),
  }),
});

/** An event of Skyhook as a subscriber gets it. */
export type Published = z.output<typeof publishedSchema>;

export interface ForeignEvent {
  readonly source: string;
  readonly detailType: string;
  readonly detail: JsonObject;
}

/** A running Skyhook, in this process or deployed. */
export interface Stage {
  /** The AWS account that Skyhook runs in. */
  readonly ownSender: string;
  readonly provider: { readonly baseUrl: string; readonly apiKey: string };
  /** All published events, in the order of their arrival. */
  readonly events: EventLog;
  /** The events on the bus of `DEMO_TEAM`. */
  readonly teamEvents: EventLog;
  /** Puts a message on the command queue, as our own AWS account. */
  send(body: JsonObject, groupId: string, deduplicationId: string): Promise<void>;
  /** Puts an event on Skyhook's bus, as any AWS account. @returns the event's id */
  putFrom(awsAccount: string, event: ForeignEvent): Promise<string>;
  /** Writes the thresholds' config, as an operator does. */
  writeThresholds(text: string): Promise<void>;
  close(): Promise<void>;
}

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

/** Whether an event reports the end of a command, or its rejection. */
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

/** A client of the stage's provider, without Skyhook. */
export const clientOf = ({ provider: { baseUrl, apiKey } }: Stage): Client =>
  createClient({
    baseUrl,
    apiKey: async () => apiKey,
    fetch,
    clock: createSystemClock(),
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
