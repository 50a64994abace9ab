import { type Context, Hono } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import * as z from "zod";
import { Refusal } from "../admin/admin.ts";
import { type EventSource, eventFilterSchema, type StreamItem } from "../admin/event-stream.ts";
import { problemsOf, problemsText } from "../contract/problem.ts";

const querySchema = eventFilterSchema.extend({
  /** Number of earlier events that come first. */
  recent: z.coerce.number().int().min(0).max(1_000).default(0),
});

const queryOf = ({ req }: Context) => {
  const { command, recent } = req.query();
  const query = querySchema.safeParse({ types: req.queries("type"), command, recent });
  if (query.success) return query.data;
  throw new Refusal(400, problemsText(problemsOf(query.error.issues)));
};

/** An item as Server-Sent Events. */
const textOf = (item: StreamItem): string => {
  switch (item.kind) {
    case "event":
      return `id: ${item.cursor}\ndata: ${JSON.stringify(item.event)}\n\n`;
    case "gap":
      return `event: gap\ndata: ${JSON.stringify({ missed: item.missed })}\n\n`;
    case "idle":
      // The cursor is also behind what the filter left out.
      return item.cursor === undefined
        ? ": idle\n\n"
        : `event: idle\nid: ${item.cursor}\ndata: {}\n\n`;
    default:
      return item satisfies never;
  }
};

/**
 * `GET /events`: the newest events, the oldest first. `GET /events/stream`: Server-Sent Events. `message` has an event
 * as JSON and its cursor as id; `idle` has a later cursor as id; `gap` reports events that this reader missed; `error` is
 * the last one and has a reason, as other answers do. Header `Last-Event-ID`, or `after` in the query, continues after a cursor.
 * @param reasonOf text of a failure of the source, for its reader
 */
export const createEventRoutes = (
  events: EventSource,
  reasonOf: (error: Error) => string,
): Hono => {
  const app = new Hono();
  if (events.recent) {
    const { recent: read } = events;
    app.get("/", (context) => {
      const { recent, ...filter } = queryOf(context);
      return context.json(read(filter, recent));
    });
  }
  app.get("/stream", (context) => {
    const { recent, ...filter } = queryOf(context);
    const after = context.req.header("last-event-id") ?? context.req.query("after");
    const send = async (stream: SSEStreamingApi): Promise<void> => {
      const ending = new AbortController();
      const { signal } = ending;
      stream.onAbort(() => ending.abort());
      // A reader knows at once that it is connected.
      await stream.write(": connected\n\n");
      // A write resolves when the reader has room for more, so that nothing is buffered for a slow one.
      try {
        for await (const item of events.follow({ filter, after, recent, signal })) {
          if (signal.aborted) return;
          await stream.write(textOf(item));
        }
      } catch (error) {
        // Behind it the stream ends, and a browser connects again.
        const reason = { error: reasonOf(error as Error) };
        await stream.write(`event: error\ndata: ${JSON.stringify(reason)}\n\n`);
      }
    };
    return streamSSE(context, send);
  });
  return app;
};
