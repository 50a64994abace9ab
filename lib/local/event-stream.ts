import * as z from "zod";
import {
  acceptsEvent,
  type EventFilter,
  type EventSource,
  type StreamedEvent,
  type StreamItem,
} from "../admin/event-stream.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { createWakeSignal } from "./event-sources.ts";
import type { BusEvent } from "./local-bus.ts";

const MAX_EVENTS = 1_000;
/** An event has up to 256 KiB, so that a limit on their number alone would allow 256 MiB. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Events that a filter leaves out between two cursors. A reader that comes back would count more as missed. */
const MAX_LEFT_OUT = 100;
/** A proxy or a browser may close a connection on which nothing comes for a minute. */
const IDLE_MS = 15_000;

const detailSchema = z.object({
  metadata: z
    .object({ commandId: z.string().optional(), sender: z.string().optional() })
    .optional()
    .catch(undefined),
  data: z
    .object({ operation: z.string().optional(), requestedCommandId: z.string().optional() })
    .optional()
    .catch(undefined),
});

/** How an event came: published by Skyhook, or put by another sender on one of the buses. */
type Origin = "own" | "other" | "default";

const toStreamed = (event: BusEvent, origin: Origin): StreamedEvent => {
  const { metadata, data } = detailSchema.safeParse(event.detail).data ?? {};
  const commandId = metadata?.commandId ?? data?.requestedCommandId;
  return {
    ...{ type: event["detail-type"], id: event.id, time: event.time },
    sender: metadata?.sender ?? event.account,
    ...(commandId !== undefined && { commandId }),
    ...(data?.operation !== undefined && { operation: data.operation }),
    ...(origin === "default" && { bus: origin }),
    // A request of another sender holds secrets; what Skyhook publishes holds none.
    event: { ...event, detail: origin === "own" ? event.detail : {} },
  };
};

interface Kept {
  readonly event: StreamedEvent;
  readonly bytes: number;
}

export interface EventStream extends EventSource {
  add(event: BusEvent, origin: Origin): void;
}

/**
 * The newest events of a run, up to 1,000 and 8 MiB, for any number of readers. A reader takes from this memory when
 * it has room, and nothing is kept for it: one that falls behind gets a gap instead of what it missed.
 * @param run differs from run to run, so that the cursor of an earlier run is known as such
 */
export const createEventStream = ({
  run,
  clock,
}: {
  readonly run: string;
  readonly clock: Clock;
}): EventStream => {
  const kept: Kept[] = [];
  /** Sequence of the first kept event. */
  let first = 0;
  let bytes = 0;
  const changed = createWakeSignal();
  const next = (): number => first + kept.length;

  /** The sequence behind a cursor; undefined for the cursor of another run. */
  const behind = (cursor: string): number | undefined => {
    const [, of, text = ""] = /^(.*)-(\d{1,15})$/s.exec(cursor) ?? [];
    const sequence = Number(text) + 1;
    return of === run && sequence <= next() ? sequence : undefined;
  };

  const cursorOf = (sequence: number): string => `${run}-${sequence}`;

  const idleAt = (at: number): StreamItem => ({
    kind: "idle",
    ...(at > 0 && { cursor: cursorOf(at - 1) }),
  });

  /**
   * The next item for a reader at a sequence, if there is one, and where the reader goes on.
   * @param known the sequence behind the last item that the reader got
   */
  const itemAt = (
    at: number,
    known: number,
    filter: EventFilter,
  ): { readonly item: StreamItem | undefined; readonly on: number } => {
    if (at < first) {
      // What has gone may not have been for this filter.
      const isWhole = filter.types.length === 0 && filter.command === undefined;
      return { item: { kind: "gap", ...(isWhole && { missed: first - at }) }, on: first };
    }
    const index = kept.findIndex((each, n) => n >= at - first && acceptsEvent(filter, each.event));
    const event = kept[index]?.event;
    if (!event) {
      const item = next() - known < MAX_LEFT_OUT ? undefined : idleAt(next());
      return { item, on: next() };
    }
    const sequence = first + index;
    return { item: { kind: "event", cursor: cursorOf(sequence), event }, on: sequence + 1 };
  };

  const newest = (filter: EventFilter, limit: number): readonly Kept[] =>
    limit === 0 ? [] : kept.filter(({ event }) => acceptsEvent(filter, event)).slice(-limit);

  /** The sequence of the first of the newest accepted events. */
  const startOf = (filter: EventFilter, recent: number): number => {
    const [oldest] = newest(filter, recent);
    return oldest ? first + kept.indexOf(oldest) : next();
  };

  return {
    isLive: true,
    add(event, origin) {
      const streamed = toStreamed(event, origin);
      const size = Buffer.byteLength(JSON.stringify(streamed));
      kept.push({ event: streamed, bytes: size });
      bytes += size;
      while (kept.length > MAX_EVENTS || bytes > MAX_BYTES) {
        bytes -= kept.shift()?.bytes ?? 0;
        first += 1;
      }
      changed.notify();
    },
    recent: (filter, limit) => newest(filter, limit).map(({ event }) => event),
    async *follow({ filter, after, recent, signal }): AsyncGenerator<StreamItem> {
      const start = after === undefined ? startOf(filter, recent) : behind(after);
      if (start === undefined) yield { kind: "gap" };
      let at = start ?? first;
      let known = at;
      while (!signal.aborted) {
        const wake = changed.next();
        const { item, on } = itemAt(at, known, filter);
        at = on;
        if (item) {
          known = at;
          yield item;
        } else {
          await clock.sleep(IDLE_MS, AbortSignal.any([wake, signal]));
          if (!wake.aborted) yield idleAt(at);
        }
      }
    },
  };
};
