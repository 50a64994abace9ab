import * as z from "zod";
import type { JsonValue } from "../platform/ports/ledger.ts";
import type { LogFields } from "../platform/ports/log.ts";

/**
 * Part of what Lambda has read from JSON. Looked at by whoever knows what it is: it may be nested
 * deeper than a check of all of it could go.
 */
const jsonPart = z.custom<JsonValue>((value) => value !== undefined);

/** What EventBridge stamps on an event, and no sender can choose. */
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

/** What a rule sends to intake: the event, or the event and the name of the reaction that the rule is of. */
const callSchema = z.union([
  z.strictObject({ reaction: z.string(), event: eventSchema }),
  eventSchema.transform((event) => ({ reaction: undefined, event })),
]);

export type IntakeCall = z.output<typeof callSchema>;

/** Undefined for what no rule of ours can have sent. */
export const readCall = (raw: unknown): IntakeCall | undefined => callSchema.safeParse(raw).data;

const batchSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

/** A message of the queue of intake. */
export type QueuedCall = z.output<typeof batchSchema>["Records"][number];

/**
 * Reads the messages that Lambda hands over from SQS. Undefined for anything else: a stage of before
 * had rules that called intake with one event, and such calls may still wait in Lambda.
 */
export const readBatch = (raw: unknown): readonly QueuedCall[] | undefined =>
  batchSchema.safeParse(raw).data?.Records;

/** Whose the lines about an event are. */
export const eventFields = ({ id, account }: BusEvent): LogFields => ({
  eventId: id,
  sender: account,
});

/** The same of a call, as far as it is one. */
export const callFields = (raw: unknown): LogFields => {
  const call = readCall(raw);
  return call ? eventFields(call.event) : {};
};

/** Epoch ms; undefined where it is no time. */
export const sentAtOf = ({ time }: BusEvent): number | undefined => {
  const at = Date.parse(time);
  return Number.isNaN(at) ? undefined : at;
};
