import * as z from "zod";
import { type DetailType, EVENT_DATA, metadataSchema } from "./catalogue.ts";
import { text } from "./fields.ts";

/** `source` of Skyhook's own events, unless a stage sets another `eventSource`. */
export const EVENT_SOURCE = "skyhook";

export const isDetailType = (name: string): name is DetailType => Object.hasOwn(EVENT_DATA, name);

/** The names of all events that Skyhook publishes. */
export const DETAIL_TYPES: readonly DetailType[] = Object.keys(EVENT_DATA).filter(isDetailType);

/** Fields of an event that EventBridge fills in. */
export const envelopeFields = {
  version: text("Version of EventBridge's envelope: `0`"),
  id: text(
    "Id that EventBridge gives each publication. `detail.metadata.id` is the same for every delivery of a fact",
  ),
  account: text("AWS account that put the event on the bus"),
  time: z.iso.datetime().describe("Time of the event in whole seconds, in UTC"),
  region: text("AWS region of the bus"),
  resources: z.array(z.string()).describe("ARNs; empty"),
};

/** Schema of an event as EventBridge delivers it to a subscriber. Keeps unknown fields on every level. */
export const eventSchemaOf = <T extends DetailType>(type: T) =>
  z.looseObject({
    source: text("`skyhook`, unless a stage sets another `eventSource`"),
    "detail-type": z.literal(type).describe("Name of the event"),
    ...envelopeFields,
    detail: z.looseObject({
      metadata: metadataSchema.describe("Identity and origin of the event"),
      data: EVENT_DATA[type],
    }),
  });
