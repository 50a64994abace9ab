import pLimit from "p-limit";
import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { CommandMessage, CommandQueue } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import { createDeduplications, DEDUPLICATION_MS, type Deduplication } from "./deduplication.ts";
import type { DurableMap, MapChange } from "./durable-store.ts";
import { nextSequence } from "./durable-store.ts";
import { createMessageGroups, type Place } from "./message-groups.ts";

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

const keyOf = (record: FifoRecord): string =>
  `${record.kind}/${record.kind === "deduplication" ? record.id : record.sequence}`;

const putting = (record: FifoRecord): MapChange => ({
  kind: "put",
  key: keyOf(record),
  value: record,
});

const deleting = (record: FifoRecord): MapChange => ({ kind: "delete", key: keyOf(record) });

/** Stored state of a FIFO queue. Messages are in the order of sending. */
interface FifoState {
  readonly messages: readonly StoredMessage[];
  readonly deadLetters: Map<string, BuriedMessage>;
  readonly deduplications: readonly Deduplication[];
}

const loadFifoState = async (map: DurableMap): Promise<FifoState> => {
  const messages: StoredMessage[] = [];
  const deadLetters = new Map<string, BuriedMessage>();
  const deduplications: Deduplication[] = [];
  // Entries are sorted by key, and so messages by sequence.
  for (const [, value] of await map.load()) {
    const record = recordSchema.parse(value);
    if (record.kind === "message") messages.push(record);
    else if (record.kind === "dead-letter") deadLetters.set(record.sequence, record);
    else deduplications.push(record);
  }
  return { messages, deadLetters, deduplications };
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

export interface FifoQueueOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of receives after which an unacknowledged message becomes a dead letter. */
  readonly maxReceiveCount: number;
  /** Number of messages, the oldest ones, in which a receive looks for available groups. Default: all. */
  readonly lookAhead?: number;
  /** Drops a repeated deduplication id only within a group. Default: in the whole queue. */
  readonly deduplicatesByGroup?: boolean;
  /** Called when there is a new message, a redriven one included. */
  readonly onMessage?: () => void;
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
  /**
   * When a message can be received, epoch ms: a past instant or the present if one can be now; undefined for a
   * queue without messages.
   */
  nextAt(): number | undefined;
  /** Number of messages, waiting or in flight, without dead letters. */
  size(): number;
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

const toReceived = (message: StoredMessage, receiptHandle: string): ReceivedMessage => ({
  messageId: message.messageId,
  receiptHandle,
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
  const { messages, deadLetters, deduplications } = await loadFifoState(map);
  const groups = createMessageGroups<StoredMessage>(options.lookAhead ?? Number.POSITIVE_INFINITY);
  for (const message of messages) groups.add(message);
  const duplicates = createDeduplications(deduplications);
  /** Messages in flight, by receipt handle. */
  const flights = new Map<string, Place<StoredMessage>>();
  const oneAtATime = pLimit(1);
  let lastSequence = [...messages.map(({ sequence }) => sequence), ...deadLetters.keys()]
    .sort()
    .at(-1);

  const forgetOldDuplicates = async (now: number): Promise<void> => {
    const ended = duplicates.takeEnded(now);
    if (ended.length === 0) return;
    try {
      await map.write(ended.map(deleting));
    } catch (error) {
      ended.forEach(duplicates.add);
      throw error;
    }
  };

  /** The id of which the queue takes one message in five minutes. */
  const uniqueId = ({ groupId, deduplicationId }: Omit<CommandMessage, "body">): string =>
    options.deduplicatesByGroup ? `${groupId} ${deduplicationId}` : deduplicationId;

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
    const id = uniqueId({ groupId, deduplicationId });
    const deduplication: Deduplication = { kind: "deduplication", id, expiresAt };
    await map.write([putting(message), putting(deduplication), ...also]);
    groups.add(message);
    duplicates.add(deduplication);
    lastSequence = message.sequence;
    options.onMessage?.();
  };

  const add = async (message: CommandMessage): Promise<void> => {
    await forgetOldDuplicates(clock.now());
    if (!duplicates.has(uniqueId(message))) await store(message, []);
  };

  const isSpent = ({ receiveCount }: StoredMessage): boolean =>
    receiveCount >= options.maxReceiveCount;

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

  const release = (now: number): void => {
    for (const { receiptHandle } of groups.release(now)) flights.delete(receiptHandle);
  };

  /** Takes the oldest available messages, and the spent ones among them, which count for nothing. */
  const take = (maxMessages: number, visibleAt: number) => {
    let wanted = maxMessages;
    return groups.take(visibleAt, (message) => {
      if (isSpent(message)) return wanted > 0;
      wanted -= 1;
      return wanted >= 0;
    });
  };

  const bury = (place: Place<StoredMessage>): void => {
    deadLetters.set(place.message.sequence, { ...place.message, kind: "dead-letter" });
    groups.remove(place);
  };

  const handOut = async (
    maxMessages: number,
    visibilityMs: number,
  ): Promise<readonly ReceivedMessage[]> => {
    const now = clock.now();
    release(now);
    const hold = take(maxMessages, now + visibilityMs);
    if (hold.places.length === 0) return [];
    const spent = hold.places.filter(({ message }) => isSpent(message));
    const received = hold.places
      .filter(({ message }) => !isSpent(message))
      .map((place) => {
        const { receiveCount, firstReceivedAt } = place.message;
        const counts = { receiveCount: receiveCount + 1, firstReceivedAt: firstReceivedAt ?? now };
        return { place, message: { ...place.message, ...counts } };
      });
    const burials = spent.flatMap(({ message }) => [
      deleting(message),
      putting({ ...message, kind: "dead-letter" }),
    ]);
    try {
      // The count is durable before the work starts, so a message that crashes its consumer becomes a dead letter.
      await map.write([...burials, ...received.map(({ message }) => putting(message))]);
    } catch (error) {
      groups.giveBack(hold);
      throw error;
    }
    spent.forEach(bury);
    return received.map(({ place, message }) => {
      place.message = message;
      place.receiptHandle = random.uuid();
      flights.set(place.receiptHandle, place);
      return toReceived(message, place.receiptHandle);
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
        const flight = flights.get(receiptHandle);
        if (flight?.hold === undefined || flight.hold.visibleAt <= clock.now()) return "stale";
        await map.write([deleting(flight.message)]);
        flights.delete(receiptHandle);
        groups.remove(flight);
        return "acknowledged";
      }),
    // Releases nothing: an acknowledgement may be under way.
    nextAt: () => groups.nextAt(clock.now()),
    size: () => groups.size(),
    holds: (deduplicationId) =>
      groups.some((message) => message.deduplicationId === deduplicationId),
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
