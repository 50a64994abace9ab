import { parseReactions } from "../../../lib/intake/reactions-config.ts";
import { openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { Secrets } from "../../../lib/platform/ports/secrets.ts";
import { type AccountsConfig, parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { OWN } from "../../../lib/provider/accounts-schema.ts";
import type { CollectionName, State } from "../../../lib/service/state/state.ts";
import { COLLECTIONS, keyOf } from "../../../lib/service/state/state.ts";
import type { Faults } from "../../support/faults.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { type Fetch, startProvider } from "../../support/provider.ts";
import { createRecordingMetrics } from "../../support/recording-metrics.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createTextSource } from "../../support/text-source.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createLedgerAndBus } from "./ledger-and-bus.ts";
import { idsIn } from "./normal-form.ts";

export const EVENT_SOURCE = "skyhook";
export const ACCOUNT = "local";
/** Our own AWS account, and that of another team. */
export const OWN_SENDER = "999999999999";
export const TEAM = "111122223333";
const KEY_PARAMETER = "/provider/key";
export const FINGERPRINT_PARAMETER = "/fingerprint-key";

/** The start of a scenario; absent fields have defaults. */
export interface Beginning {
  /**
   * Duration of a background task at the provider, ms; by default so short that the first check finds
   * its end.
   */
  readonly taskMs?: number;
  readonly state?: (builtIn: State) => State;
  /** Wraps the requests from the client to the service. */
  readonly between?: (service: Fetch, clock: Clock) => Fetch;
  /** Further fields of the account in the accounts file. */
  readonly account?: Readonly<Record<string, unknown>>;
  readonly reactions?: readonly object[];
  readonly config?: string;
}

const accountsOf = (fields: Beginning["account"]): AccountsConfig =>
  parseAccounts({
    accounts: [
      {
        name: ACCOUNT,
        base_url: "http://provider.test",
        api_key: { parameter: KEY_PARAMETER },
        senders: [OWN, { sender: TEAM, operations: ["resume-instance", "follow-task"] }],
        ...fields,
      },
    ],
    aws_accounts: [{ id: TEAM }],
  });

const reactionsOf = (reactions: readonly object[], accounts: AccountsConfig) => {
  const read = parseReactions({ reactions }, { accounts, eventSource: EVENT_SOURCE });
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  return read.value;
};

/** The virtual clock, and the next instant at which a sleep on it ends. */
const watchedClock = () => {
  const clock = createVirtualClock();
  const sleeping = new Set<{ readonly until: number }>();
  return {
    ...clock,
    nextWakeAt: (): number => Math.min(...[...sleeping].map(({ until }) => until)),
    async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
      const sleeper = { until: clock.now() + Math.max(0, durationMs) };
      sleeping.add(sleeper);
      await clock.sleep(durationMs, signal);
      sleeping.delete(sleeper);
    },
  };
};

type Service = Awaited<ReturnType<typeof startProvider>>;

/** The provider's state before the scenario. */
const lookAtProvider = async (service: Service) => {
  const keys = new Set<string>();
  const texts: string[] = [];
  for (const collection of COLLECTIONS) {
    for (const record of await service.records(collection)) {
      keys.add(`${collection} ${keyOf(collection, record)}`);
      texts.push(JSON.stringify(record));
    }
  }
  return {
    /** All ids of the initial state. */
    idsBefore: idsIn(texts.join("\n")),
    wasAtProvider: (collection: CollectionName, key: string): boolean =>
      keys.has(`${collection} ${key}`),
  };
};

/** The provider's initial state, which is equal in each run of a scenario. */
const seenAtProvider = new WeakMap<Beginning, ReturnType<typeof lookAtProvider>>();

const beforeEverything = (beginning: Beginning, service: Service) => {
  const seen = seenAtProvider.get(beginning) ?? lookAtProvider(service);
  seenAtProvider.set(beginning, seen);
  return seen;
};

/** The parts that outlive every function, in memory and on virtual time. */
export const openParts = async (faults: Faults, beginning: Beginning) => {
  const clock = watchedClock();
  const random = createSeededRandom();
  const store = createMemoryStore();
  const messages = store.map("commands.fifo");
  const requests = store.map("requests");
  const service = await startProvider(clock, beginning.taskMs ?? 1_500, beginning.state);
  const way = beginning.between?.(service.fetch, clock) ?? service.fetch;
  const key: { text: string } = { text: service.apiKey };
  /** When each request arrived at the provider, epoch ms. */
  const requestedAt: number[] = [];
  const secrets: Secrets = {
    read: async (reference) => (reference === KEY_PARAMETER ? key.text : "fingerprint-key"),
  };
  const accounts = accountsOf(beginning.account);
  return {
    ...(await beforeEverything(beginning, service)),
    faults,
    clock,
    random,
    ...createLedgerAndBus(OWN_SENDER),
    log: createRecordingLog(),
    metrics: createRecordingMetrics(),
    /** Messages of the command queue, waiting or in flight. */
    messages,
    queue: await openFifoQueue({ map: messages, clock, random, maxReceiveCount: 10 }),
    /** Messages of the queue `requests`, waiting or in flight. */
    requests,
    requestQueue: await openFifoQueue({ map: requests, clock, random, maxReceiveCount: 10 }),
    wakes: await openDelayQueue({ map: store.map("wake"), clock, random, maxReceiveCount: 3 }),
    service,
    requestedAt,
    provider: {
      fetch: (request: Request) => {
        requestedAt.push(clock.now());
        return way(request);
      },
    },
    secrets,
    /** The API key in the SSM parameter. */
    key,
    source: createTextSource(beginning.config),
    accounts,
    reactions: reactionsOf(beginning.reactions ?? [], accounts),
  };
};

export type Parts = Awaited<ReturnType<typeof openParts>>;
