import * as z from "zod";
import type { JsonValue } from "../platform/ports/ledger.ts";
import type { LogFields } from "../platform/ports/log.ts";

/** JSON that Lambda has parsed. Not checked here: it may be nested deeper than a check could go. */
const jsonPart = z.custom<JsonValue>((value) => value !== undefined);

/** EventBridge stamps `id` and `account`; no sender can choose them. */
const eventSchema = z
  .object({
    id: z.string().min(1).max(128),
    account: z.string().regex(/^\d{12}$/),
    source: z.string(),
    "detail-type": z.string(),
    time: z.string(),
    detail: jsonPart,
  })
  .catchall(jsonPart);

export type BusEvent = z.output<typeof eventSchema>;

/** What a rule sends to intake: the event, and for a reaction's rule the reaction's name. */
const callSchema = z.union([
  z.strictObject({ reaction: z.string(), event: eventSchema }),
  eventSchema.transform((event) => ({ reaction: undefined, event })),
]);

export type IntakeCall = z.output<typeof callSchema>;

/** Undefined for anything that no rule of ours can have sent. */
export const readCall = (raw: unknown): IntakeCall | undefined => callSchema.safeParse(raw).data;

const batchSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

/** A message of intake's queue. */
export type QueuedCall = z.output<typeof batchSchema>["Records"][number];

/**
 * Reads the messages of an SQS batch. Undefined for anything else: rules of an earlier version called
 * intake with one event, and such calls may still wait in Lambda.
 */
export const readBatch = (raw: unknown): readonly QueuedCall[] | undefined =>
  batchSchema.safeParse(raw).data?.Records;

/** Log fields of an event. */
export const eventFields = ({ id, account }: BusEvent): LogFields => ({
  eventId: id,
  sender: account,
});

/** Log fields of a call that may not be one. */
export const callFields = (raw: unknown): LogFields => {
  const call = readCall(raw);
  return call ? eventFields(call.event) : {};
};

/** Epoch ms; undefined where it is no time. */
export const sentAtOf = ({ time }: BusEvent): number | undefined => {
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};
