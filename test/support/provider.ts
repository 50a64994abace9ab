import { formatWireJson } from "../../lib/contract/json.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";
import type { Account } from "../../lib/provider/accounts.ts";
import type { Client } from "../../lib/provider/client.ts";
import { createService } from "../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import type { State } from "../../lib/service/state/state.ts";
import { builtInState } from "../../lib/service/state/state.ts";
import { createMemoryStore } from "../../lib/service/store.ts";
import { createSeededRandom } from "./seeded-random.ts";

export type Fetch = (request: Request) => Promise<Response>;

export interface Provider {
  readonly fetch: Fetch;
  readonly apiKey: string;
}

/**
 * The embedded service with the built-in records, which the test can read.
 * @param taskDurationMs duration of a background task
 * @param state initial records
 */
export const startProvider = async (
  clock: Clock,
  taskDurationMs = 10_000,
  state: (builtIn: State) => State = (builtIn) => builtIn,
) => {
  const store = createMemoryStore();
  const service = await createService({
    clock,
    random: createSeededRandom(7),
    store,
    initialState: state(builtInState()),
    taskDurationMs,
    onFault: (error) => {
      throw error;
    },
  });
  return {
    apiKey: BUILT_IN_API_KEYS.first,
    fetch: service.fetch,
    /** Committed records of a collection. */
    // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any record
    async records(collection: string): Promise<readonly any[]> {
      return [...(await store.load())]
        .filter(([key]) => key.startsWith(`${collection}/`))
        .map(([, text]) => JSON.parse(text));
    },
  };
};

/** An account at a provider that grants every permit at once. */
export const grantingAccount = (name: string, client: Client): Account => ({
  name,
  client,
  ambiguityWindowMs: 300_000,
  canList: true,
  ready: async () => ({ kind: "ready" }),
  pathOf: ({ path }) => path,
});

export const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(body === undefined ? null : formatWireJson(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** The error of fetch for a network failure after the request was sent. */
export const connectionLost = (): TypeError =>
  new TypeError("fetch failed", {
    cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }),
  });

export interface SeenRequest {
  /** Method and path, without the query: `PATCH /cloud/v1/…`. */
  readonly target: string;
  readonly query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any body
  readonly body: any;
}

type Answer = (request: SeenRequest) => Response | Error | Promise<Response>;

/**
 * A provider with the answers of the test, for states that the service does not reach. The longest matching prefix of
 * method and path selects the answer; other requests get 404.
 */
export const scriptProvider = (answers: Readonly<Record<string, Answer>>) => {
  const requests: SeenRequest[] = [];
  const script = new Map(Object.entries(answers));
  return {
    apiKey: "none",
    requests,
    /** Number of requests with this prefix. */
    count: (prefix: string): number =>
      requests.filter(({ target }) => target.startsWith(prefix)).length,
    answer(prefix: string, answer: Answer): void {
      script.set(prefix, answer);
    },
    async fetch(request: Request): Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      const text = await request.text();
      const seen = {
        target: `${request.method} ${pathname}`,
        query: searchParams,
        body: text === "" ? undefined : JSON.parse(text),
      };
      requests.push(seen);
      const fitting = [...script.keys()].filter((prefix) => seen.target.startsWith(prefix));
      const best = fitting.sort((a, b) => b.length - a.length)[0];
      const answer = best === undefined ? undefined : await script.get(best)?.(seen);
      if (answer instanceof Error) throw answer;
      return answer ?? json(404, { message: "not found" });
    },
  };
};
