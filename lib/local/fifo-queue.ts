import pLimit from "p-limit";
import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { CommandMessage, CommandQueue } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { DurableMap, MapChange } from "./durable-store.ts";
import { nextSequence } from "./durable-store.ts";

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
type StoredMessage = Extract<FifoRecord, { kind: "message" }>;
type BuriedMessage = Extract<FifoRecord, { kind: "dead-letter" }>;
type Deduplication = Extract<FifoRecord, { kind: "deduplication" }>;

const keyOf = (record: FifoRecord): string =>
  `${record.kind}/${record.kind === "deduplication" ? record.id : record.sequence}`;

const putting = (record: FifoRecord): MapChange => ({
  kind: "put",
  key: keyOf(record),
  value: record,
});

const deleting = (record: FifoRecord): MapChange => ({ kind: "delete", key: keyOf(record) });

/** What a FIFO queue holds. Both kinds of messages are in the order of sending. */
interface FifoState {
  readonly messages: Map<string, StoredMessage>;
  readonly deadLetters: Map<string, BuriedMessage>;
  /** Until when (epoch ms) an id is a duplicate, the first to end first. */
  readonly duplicatesUntil: Map<string, number>;
}

const loadFifoState = async (map: DurableMap): Promise<FifoState> => {
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

const MAX_BODY_BYTES = 1024 * 1024;

/** SQS takes 1 to 128 ASCII letters, digits and punctuation marks as a group or deduplication id. */
const ID = /^[!-~]{1,128}$/;

/** What SQS takes as a body: the characters that XML 1.0 allows, and at least one of them. */
const BODY = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

/**
 * Why SQS would refuse the message; undefined when it would not.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export const refusalOfMessage = (message: CommandMessage): string | undefined => {
  if (!ID.test(message.groupId)) return "the group id is not 1 to 128 ASCII letters and marks";
  if (!ID.test(message.deduplicationId)) {
    return "the deduplication id is not 1 to 128 ASCII letters and marks";
  }
  if (!BODY.test(message.body)) return "the body is empty or has a character SQS does not take";
  if (Buffer.byteLength(message.body) > MAX_BODY_BYTES) return "the body is larger than 1 MiB";
  return undefined;
};

const DEDUPLICATION_MS = 5 * 60 * 1000;

export interface FifoQueueOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  /** A message received this often and not acknowledged becomes a dead letter. */
  readonly maxReceiveCount: number;
}

/** A message as a Lambda event source hands it on; every attribute is text, as in SQS. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: {
    readonly ApproximateReceiveCount: string;
    readonly SentTimestamp: string;
    readonly SenderId: string;
    readonly ApproximateFirstReceiveTimestamp: string;
    readonly SequenceNumber: string;
    readonly MessageDeduplicationId: string;
    readonly MessageGroupId: string;
  };
}

export interface FifoQueue extends CommandQueue {
  /**
   * At most `maxMessages`, in the order of sending, invisible from now on for `visibilityMs`.
   * Several messages of one group may come together; while one of a group is invisible, later
   * calls hand out none of that group.
   */
  receive(maxMessages: number, visibilityMs: number): Promise<readonly ReceivedMessage[]>;
  /** Removes the message, unless its visibility ran out (`stale`): it is or will be handed out again. */
  acknowledge(receiptHandle: string): Promise<"acknowledged" | "stale">;
  /** Whether a message with this id waits or is being handled. */
  holds(deduplicationId: string): boolean;
  /** In the order of their sending. */
  deadLetters(): readonly BuriedMessage[];
  /**
   * Makes a dead letter a new message of its group, received by nobody, and takes it from the dead
   * letters: both or neither.
   */
  takeBack(messageId: string): Promise<"taken-back" | "gone">;
  removeDeadLetter(messageId: string): Promise<"removed" | "gone">;
}

interface Flight {
  readonly receiptHandle: string;
  readonly visibleAt: number;
}

const toReceived = (message: StoredMessage, flight: Flight): ReceivedMessage => ({
  messageId: message.messageId,
  receiptHandle: flight.receiptHandle,
  body: message.body,
  attributes: {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAt),
    SenderId: "000000000000",
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    SequenceNumber: message.sequence,
    MessageDeduplicationId: message.deduplicationId,
    MessageGroupId: message.groupId,
  },
});

/**
 * An SQS FIFO queue in this process, with redrive to dead letters, and without retention.
 *
 * Messages outlive the process, with their receive counts; visibility does not: whatever was in
 * flight is visible at the next start, because its only consumer died with the queue.
 */
export const openFifoQueue = async (options: FifoQueueOptions): Promise<FifoQueue> => {
  const { map, clock, random } = options;
  const { messages, deadLetters, duplicatesUntil } = await loadFifoState(map);
  const flights = new Map<string, Flight>();
  const oneAtATime = pLimit(1);
  let lastSequence = [...messages.keys(), ...deadLetters.keys()].sort().at(-1);

  const isInFlight = (sequence: string): boolean =>
    (flights.get(sequence)?.visibleAt ?? 0) > clock.now();

  const forgetOldDuplicates = async (now: number): Promise<void> => {
    const ended = [...duplicatesUntil].filter(([, expiresAt]) => expiresAt <= now);
    if (ended.length === 0) return;
    await map.write(
      ended.map(([id, expiresAt]) => deleting({ kind: "deduplication", id, expiresAt })),
    );
    for (const [id] of ended) duplicatesUntil.delete(id);
  };

  /** @param also is written with the message, or neither is */
  const store = async (
    { body, groupId, deduplicationId }: CommandMessage,
    also: readonly MapChange[],
  ): Promise<void> => {
    const now = clock.now();
    const message: StoredMessage = {
      kind: "message",
      sequence: nextSequence(lastSequence, now),
      messageId: random.uuid(),
      body,
      groupId,
      deduplicationId,
      sentAt: now,
      receiveCount: 0,
      firstReceivedAt: null,
    };
    const expiresAt = now + DEDUPLICATION_MS;
    await map.write([
      putting(message),
      putting({ kind: "deduplication", id: deduplicationId, expiresAt }),
      ...also,
    ]);
    messages.set(message.sequence, message);
    duplicatesUntil.set(deduplicationId, expiresAt);
    lastSequence = message.sequence;
  };

  const add = async (message: CommandMessage): Promise<void> => {
    await forgetOldDuplicates(clock.now());
    if (!duplicatesUntil.has(message.deduplicationId)) await store(message, []);
  };

  /** The messages that nothing holds back, in order. */
  const available = (): readonly StoredMessage[] => {
    const all = [...messages.values()];
    const held = new Set(
      all.filter(({ sequence }) => isInFlight(sequence)).map(({ groupId }) => groupId),
    );
    return all.filter(({ groupId }) => !held.has(groupId));
  };

  const isSpent = ({ receiveCount }: StoredMessage): boolean =>
    receiveCount >= options.maxReceiveCount;

  const buryTheSpent = async (): Promise<void> => {
    const spent = available().filter(isSpent);
    if (spent.length === 0) return;
    const buried = spent.map((message): BuriedMessage => ({ ...message, kind: "dead-letter" }));
    await map.write([...spent.map(deleting), ...buried.map(putting)]);
    for (const { sequence } of spent) messages.delete(sequence);
    for (const each of buried) deadLetters.set(each.sequence, each);
  };

  /** Runs nothing else meanwhile, so that two who want the same dead letter get it once. */
  const withDeadLetter = <T>(
    messageId: string,
    work: (found: BuriedMessage) => Promise<T>,
  ): Promise<T | "gone"> =>
    oneAtATime(async () => {
      const found = [...deadLetters.values()].find((each) => each.messageId === messageId);
      if (!found) return "gone";
      const done = await work(found);
      deadLetters.delete(found.sequence);
      return done;
    });

  const handOut = async (
    maxMessages: number,
    visibilityMs: number,
  ): Promise<readonly ReceivedMessage[]> => {
    await buryTheSpent();
    const now = clock.now();
    const received = available()
      .slice(0, maxMessages)
      .map((message) => ({
        ...message,
        receiveCount: message.receiveCount + 1,
        firstReceivedAt: message.firstReceivedAt ?? now,
      }));
    if (received.length === 0) return [];
    // The count is durable before the work starts, so a message that kills its consumer gets buried.
    await map.write(received.map(putting));
    return received.map((message) => {
      const flight = { receiptHandle: random.uuid(), visibleAt: now + visibilityMs };
      messages.set(message.sequence, message);
      flights.set(message.sequence, flight);
      return toReceived(message, flight);
    });
  };

  return {
    async send(message) {
      const refusal = refusalOfMessage(message);
      if (refusal !== undefined) throw new Error(`the queue takes no such message: ${refusal}`);
      await oneAtATime(() => add(message));
    },
    receive: (maxMessages, visibilityMs) => oneAtATime(() => handOut(maxMessages, visibilityMs)),
    acknowledge: (receiptHandle) =>
      oneAtATime(async () => {
        const message = [...messages.values()].find(
          ({ sequence }) =>
            isInFlight(sequence) && flights.get(sequence)?.receiptHandle === receiptHandle,
        );
        if (message === undefined) return "stale";
        await map.write([deleting(message)]);
        messages.delete(message.sequence);
        flights.delete(message.sequence);
        return "acknowledged";
      }),
    holds: (deduplicationId) =>
      [...messages.values()].some((message) => message.deduplicationId === deduplicationId),
    deadLetters: () => [...deadLetters.values()].sort((a, b) => (a.sequence < b.sequence ? -1 : 1)),
    takeBack: (messageId) =>
      withDeadLetter(messageId, async (found) => {
        // A new id: its own may be one that the queue still drops.
        await store({ ...found, deduplicationId: random.uuid() }, [deleting(found)]);
        return "taken-back" as const;
      }),
    removeDeadLetter: (messageId) =>
      withDeadLetter(messageId, async (found) => {
        await map.write([deleting(found)]);
        return "removed" as const;
      }),
  };
};
