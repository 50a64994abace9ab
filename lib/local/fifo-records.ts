import * as z from "zod";
import type { DurableMap, MapChange } from "./durable-map.ts";

const fields = {
  messageId: z.string(),
  body: z.string(),
  groupId: z.string(),
  deduplicationId: z.string(),
  sentAt: z.number(),
  receiveCount: z.number(),
  firstReceivedAt: z.number().nullable(),
};

const recordSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("message"), sequence: z.string(), ...fields }),
  z.object({ kind: z.literal("dead-letter"), sequence: z.string(), ...fields }),
  z.object({ kind: z.literal("deduplication"), id: z.string(), expiresAt: z.number() }),
]);

type FifoRecord = z.infer<typeof recordSchema>;
export type StoredMessage = Extract<FifoRecord, { kind: "message" }>;
export type BuriedMessage = Extract<FifoRecord, { kind: "dead-letter" }>;
type Deduplication = Extract<FifoRecord, { kind: "deduplication" }>;

const keyOf = (record: FifoRecord): string =>
  `${record.kind}/${record.kind === "deduplication" ? record.id : record.sequence}`;

export const putting = (record: FifoRecord): MapChange => ({
  kind: "put",
  key: keyOf(record),
  value: record,
});

export const deleting = (record: FifoRecord): MapChange => ({ kind: "delete", key: keyOf(record) });

/** What a FIFO queue holds. Both kinds of messages are in the order of sending. */
export interface FifoState {
  readonly messages: Map<string, StoredMessage>;
  readonly deadLetters: Map<string, BuriedMessage>;
  /** Until when (epoch ms) an id is a duplicate, the first to end first. */
  readonly duplicatesUntil: Map<string, number>;
}

export const loadFifoState = async (map: DurableMap): Promise<FifoState> => {
  const messages = new Map<string, StoredMessage>();
  const deadLetters = new Map<string, BuriedMessage>();
  const deduplications: Deduplication[] = [];
  for (const [, value] of await map.load()) {
    const record = recordSchema.parse(value);
    if (record.kind === "message") messages.set(record.sequence, record);
    else if (record.kind === "dead-letter") deadLetters.set(record.sequence, record);
    else deduplications.push(record);
  }
  deduplications.sort((a, b) => a.expiresAt - b.expiresAt);
  return {
    messages,
    deadLetters,
    duplicatesUntil: new Map(deduplications.map(({ id, expiresAt }) => [id, expiresAt])),
  };
};
