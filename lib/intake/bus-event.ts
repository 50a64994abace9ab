import * as z from "zod";
import type { JsonValue } from "../platform/ports/ledger.ts";
import type { LogFields } from "../platform/ports/log.ts";

/** JSON parsed by Lambda. Not checked here: a recursive check of deep nesting could overflow the stack. */
const jsonPart = z.custom<JsonValue>((value) => value !== undefined);

/** An EventBridge event. EventBridge sets `id` and `account`; a sender cannot choose them. */
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

/** Message of a rule to intake: the event, and for the rule of a reaction its name. */
const callSchema = z.union([
  z.strictObject({ reaction: z.string(), event: eventSchema }),
  eventSchema.transform((event) => ({ reaction: undefined, event })),
]);

export type IntakeCall = z.output<typeof callSchema>;

/** Reads the message of a rule; undefined for anything that no rule of ours can have sent. */
export const readCall = (raw: unknown): IntakeCall | undefined => callSchema.safeParse(raw).data;

const batchSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

/** An SQS message of the queue `requests`. */
export type QueuedCall = z.output<typeof batchSchema>["Records"][number];

/**
 * Reads the messages of an SQS batch; undefined for anything else. Rules of an earlier version invoked
 * intake with a single event, and such invocations may still wait in Lambda.
 */
export const readBatch = (raw: unknown): readonly QueuedCall[] | undefined =>
  batchSchema.safeParse(raw).data?.Records;

/** Log fields of an event. */
export const eventFields = ({ id, account }: BusEvent): LogFields => ({
  eventId: id,
  sender: account,
});

/** Log fields of a value that may be the message of a rule. */
export const callFields = (raw: unknown): LogFields => {
  const call = readCall(raw);
  return call ? eventFields(call.event) : {};
};

/** The event's `time`, epoch ms; undefined if it is not a valid time. */
export const sentAtOf = ({ time }: BusEvent): number | undefined => {
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};
