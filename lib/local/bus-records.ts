import type { EventBridgeEvent } from "aws-lambda";
import * as z from "zod";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { DurableMap, MapChange } from "./durable-map.ts";

/** An event as EventBridge hands it to a target. */
export type BusEvent = EventBridgeEvent<string, JsonObject>;

/** An event as its sender writes it; EventBridge adds what is not there. */
export type PutEvent = Pick<BusEvent, "source" | "detail-type" | "detail"> &
  Partial<Pick<BusEvent, "account" | "id" | "time" | "region" | "resources">>;

/** ISO 8601 without fractions of a second, as EventBridge writes it. */
export const eventTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Adds what EventBridge adds to an event that is put, where the event does not bring it. */
export const stampEvent = (
  event: PutEvent,
  stamps: { readonly id: string; readonly account: string; readonly at: number },
): BusEvent => ({
  version: "0",
  id: stamps.id,
  account: stamps.account,
  time: eventTime(stamps.at),
  region: "us-east-1",
  resources: [],
  ...event,
});

/** One event that not every subscriber has had yet. */
export interface BusRecord {
  readonly sequence: string;
  readonly event: BusEvent;
}

const recordSchema = z.object({
  sequence: z.string(),
  event: z.object({
    version: z.string(),
    id: z.string(),
    "detail-type": z.string(),
    source: z.string(),
    account: z.string(),
    time: z.string(),
    region: z.string(),
    resources: z.array(z.string()),
    detail: z.record(z.string(), z.json()),
  }),
});

export const puttingEvent = ({ sequence, event }: BusRecord): MapChange => ({
  kind: "put",
  key: sequence,
  value: { sequence, event: { ...event } },
});

export const deletingEvent = ({ sequence }: BusRecord): MapChange => ({
  kind: "delete",
  key: sequence,
});

/** In the order of publishing. */
export const loadBusRecords = async (map: DurableMap): Promise<readonly BusRecord[]> =>
  (await map.load()).map(([, value]) => recordSchema.parse(value));
