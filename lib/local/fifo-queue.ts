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

/** State of a FIFO queue. Messages and dead letters are in the order of sending. */
interface FifoState {
  readonly messages: Map<string, StoredMessage>;
  readonly deadLetters: Map<string, BuriedMessage>;
  /** End of the deduplication of an id, epoch ms; the earliest first. */
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

/** A group or deduplication id of SQS: 1 to 128 ASCII letters, digits and punctuation marks. */
const ID = /^[!-~]{1,128}$/;

/** A message body of SQS: at least one character, and only those that XML 1.0 allows. */
const BODY = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

/**
 * Reason why SQS would refuse the message; undefined if it would accept it.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export const refusalOfMessage = (message: CommandMessage): string | undefined => {
  if (!ID.test(message.groupId))
    return "the group id must be 1 to 128 ASCII letters, digits or punctuation marks";
  if (!ID.test(message.deduplicationId)) {
    return "the deduplication id must be 1 to 128 ASCII letters, digits or punctuation marks";
  }
  if (!BODY.test(message.body)) return "the body is empty, or has a character that SQS refuses";
  if (Buffer.byteLength(message.body) > MAX_BODY_BYTES) return "the body is larger than 1 MiB";
  return undefined;
};

const DEDUPLICATION_MS = 5 * 60 * 1000;

export interface FifoQueueOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of receives after which an unacknowledged message becomes a dead letter. */
  readonly maxReceiveCount: number;
}

/** A message as a Lambda event source delivers it; every attribute is text, as in SQS. */
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
   * Receives at most `maxMessages`, in the order of sending, and makes them invisible for `visibilityMs`.
   * One call may return several messages of a group. While one of a group is invisible, later calls return
   * none of that group.
   */
  receive(maxMessages: number, visibilityMs: number): Promise<readonly ReceivedMessage[]>;
  /** Removes the message. `stale`: its visibility timeout has passed, so it is delivered again. */
  acknowledge(receiptHandle: string): Promise<"acknowledged" | "stale">;
  /** Reports whether a message with this deduplication id waits or is being handled. */
  holds(deduplicationId: string): boolean;
  /** All dead letters, in the order of sending. */
  deadLetters(): readonly BuriedMessage[];
  /**
   * Redrives a dead letter: removes it and adds a new message in its group with no receives. Both or
   * neither happens.
   */
  redrive(messageId: string): Promise<"redriven" | "gone">;
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
 * An SQS FIFO queue in this process, with dead letters and without a retention limit.
 *
 * Messages and their receive counts survive the process. Visibility does not: messages in flight are visible
 * at the next start, because their only consumer ended with the queue.
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

  /** @param also changes to write together with the message: all or none */
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

  /** Messages of groups without a message in flight, in order. */
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

  /** Runs nothing else meanwhile, so that only one of two concurrent callers gets a dead letter. */
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
    // The count is durable before the work starts, so a message that crashes its consumer becomes a dead letter.
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
      if (refusal !== undefined) throw new Error(`the queue refuses the message: ${refusal}`);
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
    redrive: (messageId) =>
      withDeadLetter(messageId, async (found) => {
        // A new id, because the queue may still drop the old one as a duplicate.
        await store({ ...found, deduplicationId: random.uuid() }, [deleting(found)]);
        return "redriven" as const;
      }),
    removeDeadLetter: (messageId) =>
      withDeadLetter(messageId, async (found) => {
        await map.write([deleting(found)]);
        return "removed" as const;
      }),
  };
};
