import * as z from "zod";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { RecordedBatch, RecordedEvent } from "./recorded-events.ts";

/** An event as the operator sees it, live or from what commands record. */
export const streamedEventSchema = z.object({
  /** The `detail-type`. */
  type: z.string(),
  /** Id of the event on the bus; of a recorded event its `metadata.id`. */
  id: z.string(),
  /** ISO 8601. */
  time: z.string(),
  /** AWS account that put the event; for an event of a command, its sender. */
  sender: z.string().optional(),
  /** The command that the event is about, or asks for. */
  commandId: z.string().optional(),
  operation: z.string().optional(),
  /** `default`: the bus for events of AWS services. Absent for Skyhook's own bus. */
  bus: z.literal("default").optional(),
  /**
   * The event as EventBridge delivers it; only of a local run. The detail is empty unless Skyhook published the event:
   * a request of another sender holds secrets.
   */
  event: z
    .object({
      ...{ version: z.string(), id: z.string(), "detail-type": z.string(), source: z.string() },
      ...{ account: z.string(), time: z.string(), region: z.string() },
      resources: z.array(z.string()),
      detail: z.custom<JsonObject>((value) => typeof value === "object" && value !== null),
    })
    .optional(),
});

export type StreamedEvent = z.output<typeof streamedEventSchema>;

/** A gap in a stream as it is sent. */
export const gapSchema = z
  .object({ missed: z.int().optional() })
  .transform(({ missed }) => ({ kind: "gap", ...(missed !== undefined && { missed }) }) as const);

/** What a stream yields. */
export type StreamItem =
  /** `cursor` continues the stream after the event, or a little before it. */
  | { readonly kind: "event"; readonly cursor: string; readonly event: StreamedEvent }
  /** Events were lost for this reader; `missed`: how many, if that is known. */
  | { readonly kind: "gap"; readonly missed?: number }
  /** Nothing accepted came up to the `cursor`. */
  | { readonly kind: "idle"; readonly cursor?: string };

/** Filters of the stream; an absent one accepts everything. */
export const eventFilterSchema = z.object({
  /** Detail-types; a `*` at the end accepts every type with that beginning. */
  types: z.array(z.string().min(1)).max(20).default([]),
  /** Only events about this command. */
  command: z.string().optional(),
});

export type EventFilter = z.output<typeof eventFilterSchema>;

const fits = (type: string, pattern: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** Whether a filter accepts an event. */
export const acceptsEvent = ({ types, command }: EventFilter, event: StreamedEvent): boolean =>
  (types.length === 0 || types.some((pattern) => fits(event.type, pattern))) &&
  (command === undefined || command === event.commandId);

export interface StreamStart {
  readonly filter: EventFilter;
  /** Continues after the event with this cursor. */
  readonly after?: string | undefined;
  /** Without a cursor: number of the newest accepted events that come first. */
  readonly recent: number;
  readonly signal: AbortSignal;
}

/** The events of a local run, or of a stage. */
export interface EventSource {
  /** Live from the bus; false: polled from what commands record. */
  readonly isLive: boolean;
  /** The newest accepted events, the oldest first; absent where only new ones can be read. */
  recent?(filter: EventFilter, limit: number): readonly StreamedEvent[];
  follow(start: StreamStart): AsyncIterable<StreamItem>;
}

const toStreamed = ({ type, id, time, sender, commandId, operation }: RecordedEvent) => ({
  ...{ type, id, time, sender, operation },
  ...(commandId !== undefined && { commandId }),
});

/**
 * The recorded events of a stage as a stream. A cursor is a time shortly before a poll, so a reader that comes back gets
 * some events again.
 * @param read begins to poll; `since`: epoch ms
 */
export const recordedSource = (
  read: (start: {
    readonly signal: AbortSignal;
    readonly since?: number;
  }) => AsyncIterable<RecordedBatch>,
): EventSource => ({
  isLive: false,
  async *follow({ filter, after, signal }) {
    const since = Date.parse(after ?? "");
    const start = { signal, ...(!Number.isNaN(since) && { since }) };
    let begun = Number.isNaN(since) ? undefined : after;
    for await (const { next, events, isPartial } of read(start)) {
      // A reader that leaves between two of these events needs the others when it comes back.
      const cursor = begun ?? next;
      const accepted = events.map(toStreamed).filter((event) => acceptsEvent(filter, event));
      for (const event of accepted) yield { kind: "event", cursor, event };
      if (isPartial) yield { kind: "gap" };
      yield { kind: "idle", cursor: next };
      begun = next;
    }
  },
});
