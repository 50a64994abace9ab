import type { Clock } from "../../lib/platform/ports/clock.ts";
import { parseFault } from "../../lib/service/fault-text.ts";
import { createFaults } from "../../lib/service/faults.ts";
import type { Fetch } from "./provider.ts";
import { createSeededRandom } from "./seeded-random.ts";

/** Longer than any client waits for a reply. */
export const SLOW_MS = 60_000;

/**
 * Faults of the service by name. "Before the effect": the request never reached the app. "After the effect": the
 * request took effect.
 */
const FAULTS = {
  "fails before the effect": "status",
  "fails after the effect": "status,when=after-effect",
  "a gateway answers HTML 504 before the effect": "status,code=504,body=html",
  "a gateway answers HTML 504 after the effect": "status,code=504,body=html,when=after-effect",
  "is throttled": "throttled,retry-after=7s",
  "is throttled for long": "throttled,retry-after=130s",
  "is refused": "status,code=400",
  "the key is refused": "status,code=401",
  "the connection breaks before the effect": "reset",
  "the connection breaks after the effect": "reset,when=after-effect",
  "the reply is cut off": "truncated",
  "it answers in unknown words": "unexpected-body",
  "the effect is slow": `slow,delay=${SLOW_MS}ms`,
  "the reply is slow": `slow,delay=${SLOW_MS}ms,when=after-effect`,
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
  const faults = createFaults({ clock, random: createSeededRandom(3) });
  let seen = 0;
  return {
    async fetch(request) {
      if (!matches(request)) return app(request);
      seen += 1;
      return faults.handle(request, () => app(request));
    },
    strike: (...names) => {
      for (const name of names) faults.add({ ...parseFault(`*=${FAULTS[name]}`), times: 1 });
    },
    seen: () => seen,
  };
};
