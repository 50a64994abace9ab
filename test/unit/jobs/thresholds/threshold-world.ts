import { parseWireJson } from "../../../../lib/contract/json.ts";
import { syncThresholds } from "../../../../lib/jobs/thresholds/sync.ts";
import type { SyncCause } from "../../../../lib/jobs/thresholds/sync-events.ts";
import {
  thresholdSyncKey,
  thresholdSyncs,
} from "../../../../lib/jobs/thresholds/threshold-sync.ts";
import type { Account } from "../../../../lib/provider/accounts.ts";
import { createRateLimitedClient } from "../../../../lib/provider/retrying-client.ts";
import type { State } from "../../../../lib/service/state/state.ts";
import { type Around, untouched } from "../../../support/faults.ts";
import { createHttpFaults, type HttpFaults } from "../../../support/http-faults.ts";
import { json, startProvider } from "../../../support/provider.ts";
import { createTextSource } from "../../../support/text-source.ts";
import { createWorld } from "../../../support/world.ts";

const BUDGET_MS = 120_000;

type Events = State["storage_events"];

export interface ThresholdWorldOptions {
  readonly config?: string;
  /** Thresholds at the provider at the beginning; client 1 is the key's own. */
  readonly events?: Events;
  readonly account?: Partial<Account>;
  /** The account's rate limit; none by default. */
  readonly requestsPerSecond?: number;
  readonly around?: Around;
}

/** The embedded service, a config and the ports of a sync, on virtual time. */
export const createThresholdWorld = async (options: ThresholdWorldOptions = {}) => {
  const requests: { readonly method: string; readonly path: string; readonly body: unknown }[] = [];
  const poisoned: string[] = [];
  const meanwhile: (() => Promise<unknown>)[] = [];
  let faults: HttpFaults | undefined;
  let service: Awaited<ReturnType<typeof startProvider>> | undefined;
  const world = await createWorld({
    around: options.around ?? untouched,
    accounts: { local: options.account ?? {} },
    provider: async (clock) => {
      service = await startProvider(clock, 1_000, (state) => ({
        ...state,
        storage_events: [...(options.events ?? [])],
      }));
      faults = createHttpFaults(service.fetch, clock, ({ method }) => method !== "GET");
      const struck = faults.fetch;
      return {
        ...service,
        async fetch(request) {
          const text = await request.clone().text();
          const { pathname, search } = new URL(request.url);
          const body = text === "" ? undefined : parseWireJson(text);
          requests.push({ method: request.method, path: pathname + search, body });
          if (poisoned.some((part) => text.includes(part))) return json(500, {});
          if (request.method !== "GET") await meanwhile.splice(0).pop()?.();
          return struck(request);
        },
      };
    },
  });
  if (!service || !faults) throw new Error("the world has not requested a provider");
  const { records, fetch: fetchService, apiKey } = service;
  const atProvider = async (method: "POST" | "PUT" | "DELETE", body: object): Promise<void> => {
    const url = "http://provider.test/storage/notifications/v1/event";
    const headers = { authorization: `apikey ${apiKey}`, "content-type": "application/json" };
    const request = new Request(url, { method, headers, body: JSON.stringify(body) });
    const { ok } = await fetchService(request);
    if (!ok) throw new Error(`${method} was refused`);
  };
  const source = createTextSource(options.config);
  let events = 0;

  const sync = async (
    cause: Partial<SyncCause> = {},
    budgetMs = BUDGET_MS,
    invocation = world.newInvocation(),
  ): Promise<void> => {
    events += 1;
    const { deps } = invocation;
    const found = deps.accountOf("local");
    if (!found) throw new Error("no account");
    const { requestsPerSecond = Number.POSITIVE_INFINITY } = options;
    const pace = { clock: deps.clock, requestsPerSecond };
    const account = { ...found, client: createRateLimitedClient(found.client, pace) };
    const over = new AbortController();
    void world.clock.sleep(budgetMs).then(() => over.abort());
    await world.drive(
      syncThresholds(
        deps,
        {
          account,
          source,
          cause: { kind: "object-created", eventId: `event-${events}`, ...cause },
        },
        { endsAt: world.clock.now() + budgetMs, signal: over.signal },
      ),
    );
  };

  return {
    ...world,
    source,
    requests,
    faults,
    sync,
    /** Answers each later request that contains one of these texts with 500. */
    poison: (...texts: readonly string[]): void =>
      void poisoned.push(...texts.map((text) => `"${text}"`)),
    /** Sends a request of another client. */
    atProvider,
    /** Runs an action after the sync has read the list and before its first change arrives. */
    meanwhile: (happens: () => Promise<unknown>): void => void meanwhile.push(happens),
    /** Requests since the last call, as `METHOD`. */
    methods: (): readonly string[] => requests.splice(0).map(({ method }) => method),
    /** Thresholds at the provider, without uuids: `name storage bucket limit`. */
    async actual(clientId = 1): Promise<readonly string[]> {
      return (await records("storage_events"))
        .filter(({ client_id }) => client_id === clientId)
        .map(({ name, storage_name = "-", bucket_name = "-", bytes, count }) =>
          [name, storage_name, bucket_name, bytes ?? count ?? "-"].join(" "),
        )
        .toSorted();
    },
    /** The record in the ledger. */
    remembered: async (clientId?: number) =>
      (await thresholdSyncs.read(world.ledger, thresholdSyncKey("local", clientId)))?.value,
    /** Published events of one type, oldest first, each id once. */
    publishedOf: (detailType: string) => [
      ...new Map(
        world.bus
          .published()
          .filter((event) => event.detailType === detailType)
          .map((event) => [event.id, event]),
      ).values(),
    ],
  };
};

/** One event of the key's own client. */
export const event = (
  name: Events[number]["name"],
  bucket_name: string,
  limit: { bytes?: string; count?: string },
): Events[number] => ({
  client_id: 1,
  uuid: `4b8e0c52-7d0a-4f0e-9a55-${Buffer.from(name + bucket_name)
    .toString("hex")
    .slice(-12)
    .padStart(12, "0")}`,
  name,
  bucket_name,
  ...limit,
});
