import { capturePrices } from "../../../../lib/jobs/prices/capture.ts";
import {
  priceItemKey,
  priceItems,
  priceReadingKey,
  priceReadings,
  priceRunKey,
  priceRuns,
} from "../../../../lib/jobs/prices/price.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../../lib/platform/deployment.ts";
import type { BusEntry, EventBus } from "../../../../lib/platform/ports/bus.ts";
import type { JobDeps } from "../../../../lib/platform/ports/job.ts";
import type { Account } from "../../../../lib/provider/accounts.ts";
import { openAccounts } from "../../../../lib/provider/accounts.ts";
import { parseAccounts } from "../../../../lib/provider/accounts-config.ts";
import { BUILT_IN_API_KEYS } from "../../../../lib/service/state/keys.ts";
import type { State } from "../../../../lib/service/state/state.ts";
import { type Around, untouched } from "../../../support/faults.ts";
import { createRecordingLog } from "../../../support/logs.ts";
import { createMemoryLedger } from "../../../support/memory-ledger.ts";
import { type Fetch, grantingAccount } from "../../../support/provider.ts";
import { createRecordingBus } from "../../../support/recording-bus.ts";
import { createRecordingMetrics } from "../../../support/recording-metrics.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import {
  type Call,
  watchedBus,
  watchedClient,
  watchedFetch,
  watchedLedger,
} from "../../../support/watched-ports.ts";
import { startService } from "../../service/harness.ts";

export const ACCOUNT = "acme";
export const HOUR_MS = 3_600_000;
/** 2026-01-01T00:00:00Z, the start of the virtual clock. */
export const START = Date.UTC(2026, 0, 1);

export const DDOS = "{ name: ddos, ddos: { region_id: 76 } }";
export const K8S =
  "{ name: k8s, k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: my-cluster } }";
export const GPU =
  "{ name: gpu, gpu_cluster: { project_id: 1234567, region_id: 76, server_id: f1c1eeb6-1834-48c9-a7b0-daafce64872b } }";
export const WEB =
  "{ name: web, instance: { project_id: 1234567, region_id: 76, body: { flavor: g1-standard-1-2, names: [web], interfaces: [{ type: external }] } } }";
/** A cluster that does not exist. */
export const LOST =
  "{ name: lost, k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: no-such-cluster } }";

export const watchlistOf = (...items: readonly string[]): string =>
  ["items:", ...items.map((item) => `  - ${item}`)].join("\n");

export interface PriceWorldOptions {
  readonly state?: (builtIn: State) => State;
  readonly around?: Around;
  /** Wraps the transport between the client and the service. */
  readonly between?: (service: Fetch) => Fetch;
  /** The account's rate limit; none by default, so that no time passes. */
  readonly requestsPerSecond?: number;
  /** Absent: a pause moves the clock and ends at once. */
  readonly sleep?: "until moved on";
}

export interface RunOptions {
  /** Text of the watchlist; null: there is none. */
  readonly watchlist?: string | null;
  readonly scheduledAt?: number;
  readonly durationMs?: number;
  readonly signal?: AbortSignal;
}

/** The price job on virtual time, in front of the embedded service. */
export const createPriceWorld = async (options: PriceWorldOptions = {}) => {
  const { around = untouched, between = (service: Fetch) => service } = options;
  const { service, clock } = await startService(options.state ? { state: options.state } : {});
  const fetchThere = between(service.fetch);
  const ledger = createMemoryLedger();
  const bus = createRecordingBus(ledger, ACCOUNT);
  const log = createRecordingLog();
  const metrics = createRecordingMetrics();
  const random = createSeededRandom();
  const lies: string[] = [];
  let invocations = 0;

  /** The facts of an event must be in the ledger before it is published. */
  const checkTruth = async ({ detailType, detail }: BusEntry): Promise<void> => {
    // This event is about the file, and no record holds it.
    if (detailType === "WatchlistRejected") return;
    // The recording bus checks the data against the catalogue.
    const data = detail.data as { name: string; number: number; bucket: string };
    const known =
      detailType === "PriceChanged"
        ? (await priceItems.read(ledger, priceItemKey(ACCOUNT, data.name)))?.value.latest?.number
        : (await priceRuns.read(ledger, priceRunKey(ACCOUNT, data.bucket)))?.version;
    if (known === undefined || known < (data.number ?? 1)) lies.push(detailType);
  };

  const truthfulBus: EventBus = {
    publish: async (entries) => {
      for (const entry of entries) await checkTruth(entry);
      return bus.publish(entries);
    },
  };

  /** A real rate limiter, or one that always grants. */
  const accountOf = (deps: JobDeps, call: Call): Account => {
    const provider = { fetch: fetchThere, apiKey: BUILT_IN_API_KEYS.first };
    const { requestsPerSecond: requests_per_second } = options;
    if (requests_per_second === undefined)
      return grantingAccount(ACCOUNT, watchedClient(call, provider, clock));
    const account = { name: ACCOUNT, senders: ["own"], requests_per_second };
    const ports = {
      ...deps,
      metrics: createRecordingMetrics(),
      secrets: { read: async () => provider.apiKey },
      environment: {},
      fetch: watchedFetch(call, provider),
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    };
    const config = parseAccounts({ accounts: [account] });
    const own = {
      baseUrl: "http://provider.test",
      apiKey: ports.secrets.read,
      paths: {},
      ambiguityWindowMs: 300_000,
      canList: true,
    };
    const opened = openAccounts(config, ports, own)(ACCOUNT);
    if (!opened) throw new Error("no account");
    return opened;
  };

  const newInvocation = () => {
    invocations += 1;
    const invocation = invocations;
    const call: Call = (name, effect) => around({ name, invocation }, effect);
    const deps: JobDeps = {
      ledger: watchedLedger(call, ledger),
      bus: watchedBus(call, truthfulBus),
      clock: {
        now: clock.now,
        sleep: options.sleep ? clock.sleep : (ms) => clock.advance(ms),
      },
      random,
      log,
    };
    return { deps: { ...deps, metrics }, account: accountOf(deps, call), call };
  };

  return {
    clock,
    ledger,
    log,
    bus,
    metrics,
    newInvocation,
    /** Runs the job once. */
    async run(run: RunOptions = {}): Promise<void> {
      const { deps, account, call } = newInvocation();
      const { watchlist = watchlistOf(DDOS, K8S, GPU, WEB), scheduledAt = clock.now() } = run;
      const durationMs = run.durationMs ?? 50_000;
      const over = new AbortController();
      void clock.sleep(durationMs).then(() => over.abort());
      await capturePrices(
        deps,
        {
          account,
          source: {
            name: "watchlist.yaml",
            read: () =>
              call("source.read", async () =>
                watchlist === null ? undefined : { text: watchlist, version: "1" },
              ),
          },
          scheduledAt,
          periodMs: HOUR_MS,
        },
        {
          endsAt: clock.now() + durationMs,
          signal: AbortSignal.any([over.signal, ...(run.signal ? [run.signal] : [])]),
        },
      );
    },
    /** Publishes the due events that runs have left, as the poller does. */
    async publishDue(): Promise<void> {
      const { deps } = newInvocation();
      for (const { key } of await ledger.listDue(Number.MAX_SAFE_INTEGER, 1_000)) {
        const [kind, rest = ""] = key.split("#");
        await (kind === priceItems.kind ? priceItems : priceRuns).publish(deps, rest);
      }
    },
    /** Published events of one type. */
    published(detailType: "PriceChanged" | "PricesCaptured") {
      if (lies.length > 0) throw new Error(`published what is not durable: ${lies}`);
      return bus.published().filter((event) => event.detailType === detailType);
    },
    item: async (name: string) =>
      (await priceItems.read(ledger, priceItemKey(ACCOUNT, name)))?.value,
    reading: async (name: string, number: number) =>
      (await priceReadings.read(ledger, priceReadingKey(ACCOUNT, name, number)))?.value,
  };
};

export type PriceWorld = Awaited<ReturnType<typeof createPriceWorld>>;

/** Built-in price lists of both regions, each followed by others that start later. */
export const withLaterPrices =
  (...later: readonly (Partial<State["prices"][number]> & { readonly starts_at: string })[]) =>
  (builtIn: State): State => {
    const first = builtIn.prices[0]!;
    return {
      ...builtIn,
      prices: [...builtIn.prices, ...later.map((change) => ({ ...first, ...change }))],
    };
  };
