import {
  type EventBridgeClient,
  PutEventsCommand,
  type PutEventsResultEntry,
} from "@aws-sdk/client-eventbridge";
import type { BusEntry, EventBus, PublishOutcome } from "../ports/bus.ts";
import { eventBytes, MAX_EVENT_BYTES } from "../ports/bus.ts";

/** Entries of one PutEvents call. */
export const MAX_ENTRIES = 10;

export interface EventbridgeBusOptions {
  readonly client: EventBridgeClient;
  readonly busName: string;
  /** The `source` of every event. */
  readonly source: string;
}

interface Chunk {
  readonly entries: BusEntry[];
  bytes: number;
}

/** Splits entries into requests within the limits, in order. An oversized entry has a request of its own. */
const chunksOf = (entries: readonly BusEntry[], source: string): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  for (const entry of entries) {
    const bytes = eventBytes(source, entry.detailType, JSON.stringify(entry.detail));
    const last = chunks.at(-1);
    const fits =
      last !== undefined &&
      last.entries.length < MAX_ENTRIES &&
      last.bytes + bytes <= MAX_EVENT_BYTES;
    if (fits) {
      last.entries.push(entry);
      last.bytes += bytes;
    } else {
      chunks.push({ entries: [entry], bytes });
    }
  }
  return chunks;
};

const outcomeOf = (result: PutEventsResultEntry | undefined): PublishOutcome =>
  result?.EventId === undefined
    ? {
        kind: "failed",
        code: result?.ErrorCode ?? "NoOutcome",
        message: result?.ErrorMessage ?? "PutEvents returned no outcome for this entry",
      }
    : { kind: "published" };

const failureOf = (error: unknown): PublishOutcome =>
  error instanceof Error
    ? { kind: "failed", code: error.name, message: error.message }
    : { kind: "failed", code: "UnknownError", message: "PutEvents failed" };

/** The bus on EventBridge. After a failed chunk, the following chunks are still sent. */
export const createEventbridgeBus = (options: EventbridgeBusOptions): EventBus => {
  const publishChunk = async (entries: readonly BusEntry[]): Promise<readonly PublishOutcome[]> => {
    try {
      const { Entries } = await options.client.send(
        new PutEventsCommand({
          Entries: entries.map((entry) => ({
            EventBusName: options.busName,
            Source: options.source,
            DetailType: entry.detailType,
            Detail: JSON.stringify(entry.detail),
            Time: new Date(entry.time),
          })),
        }),
      );
      return entries.map((_, index) => outcomeOf(Entries?.[index]));
    } catch (error) {
      const failure = failureOf(error);
      return entries.map(() => failure);
    }
  };

  return {
    async publish(entries) {
      const outcomes: PublishOutcome[] = [];
      for (const chunk of chunksOf(entries, options.source)) {
        outcomes.push(...(await publishChunk(chunk.entries)));
      }
      return outcomes;
    },
  };
};
