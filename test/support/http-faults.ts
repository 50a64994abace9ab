import type { Clock } from "../../lib/platform/ports/clock.ts";
import { connectionLost, type Fetch, json } from "./provider.ts";

type Send = () => Promise<Response>;

const html504 = (): Response =>
  new Response("<html><body><h1>504 Gateway Time-out</h1></body></html>", {
    status: 504,
    headers: { "content-type": "text/html" },
  });

/** Longer than any client waits for a reply. */
export const SLOW_MS = 60_000;

/**
 * Faults between a client and an app. "Before the effect": the request never reached the app. "After the effect": the
 * request took effect.
 */
const FAULTS = {
  "fails before the effect": async () => json(500, { message: "internal error" }),
  "fails after the effect": async (send: Send) => {
    await send();
    return json(500, { message: "internal error" });
  },
  "a gateway answers HTML 504 before the effect": async () => html504(),
  "a gateway answers HTML 504 after the effect": async (send: Send) => {
    await send();
    return html504();
  },
  "is throttled": async () => json(429, { message: "too many requests" }, { "retry-after": "7" }),
  "is throttled for long": async () =>
    json(429, { message: "too many requests" }, { "retry-after": "130" }),
  "is refused": async () => json(400, { message: "not like this", error: "not like this" }),
  "the key is refused": async () => json(401, { error: "token_not_valid" }),
  "the connection breaks before the effect": async (): Promise<Response> => {
    throw connectionLost();
  },
  "the connection breaks after the effect": async (send: Send): Promise<Response> => {
    await send();
    throw connectionLost();
  },
  "the reply is cut off": async (send: Send) => {
    const reply = await send();
    const { status, headers } = reply;
    return new Response((await reply.text()).slice(0, -5) || "<html>", {
      // A 204 has no content that could be cut off.
      status: status === 204 ? 200 : status,
      headers,
    });
  },
  "it answers in unknown words": async (send: Send) => {
    const { status } = await send();
    return status === 200 ? json(200, { ok: true }) : new Response(null, { status });
  },
  "the effect is slow": async (send: Send, clock: Clock) => {
    await clock.sleep(SLOW_MS);
    return send();
  },
  "the reply is slow": async (send: Send, clock: Clock) => {
    const reply = await send();
    await clock.sleep(SLOW_MS);
    return reply;
  },
} as const;

export type HttpFault = keyof typeof FAULTS;

export interface HttpFaults {
  /** The app, wrapped with the faults. */
  readonly fetch: Fetch;
  /** Applies one fault to each of the next matching requests. Later requests pass. */
  strike(...faults: readonly HttpFault[]): void;
  /** Number of matching requests so far. */
  seen(): number;
}

/** Wraps the `fetch` of an app with faults. */
export const createHttpFaults = (
  app: Fetch,
  clock: Clock,
  matches: (request: Request) => boolean = () => true,
): HttpFaults => {
  const waiting: HttpFault[] = [];
  let seen = 0;
  return {
    async fetch(request) {
      if (!matches(request)) return app(request);
      seen += 1;
      const fault = waiting.shift();
      return fault === undefined ? app(request) : FAULTS[fault](() => app(request), clock);
    },
    strike: (...faults) => void waiting.push(...faults),
    seen: () => seen,
  };
};
