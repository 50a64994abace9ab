import { commandKey, commands } from "../../lib/engine/command.ts";
import { groupIdOf } from "../../lib/engine/lane.ts";
import { handleMessage } from "../../lib/engine/message-handler.ts";
import type { PollerDeps } from "../../lib/engine/poller/entry-work.ts";
import { pollDue } from "../../lib/engine/poller/poll.ts";
import { createPollerMemory } from "../../lib/engine/poller/poller-memory.ts";
import { readMessage, sealRequest } from "../../lib/engine/queue-message.ts";
import { createShards } from "../../lib/engine/shards.ts";
import { openCloud } from "../../lib/local/cloud.ts";
import { createMemoryStore } from "../../lib/local/durable-store.ts";
import { type Disturbance, undisturbed } from "../../lib/local/event-sources.ts";
import type { Machine } from "../../lib/local/lambda.ts";
import { ATTEMPT_LEASE_MS, ATTEMPT_TIMEOUT_MS, periodMsOf } from "../../lib/platform/deployment.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";
import type { Ledger } from "../../lib/platform/ports/ledger.ts";
import { createAccess } from "../../lib/provider/access.ts";
import type { Account } from "../../lib/provider/accounts.ts";
import { type AccountsConfig, ownAccount } from "../../lib/provider/accounts-config.ts";
import { DEFAULT_ACCOUNT } from "../../lib/provider/default-account.ts";
import {
  createDueHandlers,
  createSkyhook,
  type Skyhook,
  type SkyhookConfig,
  type SkyhookPorts,
} from "../../lib/skyhook.ts";
import { type Around, untouched } from "./faults.ts";
import { createRecordingLog, silentLog } from "./logs.ts";
import { createMemoryLedger } from "./memory-ledger.ts";
import { grantingAccount, type Provider } from "./provider.ts";
import { createRecordingBus } from "./recording-bus.ts";
import { createRecordingMetrics } from "./recording-metrics.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { createTextSource } from "./text-source.ts";
import { createVirtualClock, type VirtualClock } from "./virtual-clock.ts";
import { type Call, watchedClient, watchedPorts } from "./watched-ports.ts";

export const SENDER = "own";
export const FINGERPRINT_KEY = "fingerprint-key";
const POLL_MS = 50_000;
const ROUND_MS = 15_000;
/** Turns of the event loop, more than a call of the embedded service takes. */
const TURNS = 30;
/** Longer than the code under test sleeps. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Maximum number of queries at one instant. A poller with more would never stop. */
const MAX_QUERIES_AT_ONCE = 100;

export interface WorldOptions {
  readonly provider: (clock: VirtualClock) => Provider | Promise<Provider>;
  readonly around?: Around;
  /** Accounts in addition to `local` or in place of it. Missing fields are those of `local`. */
  readonly accounts?: Readonly<Record<string, Partial<Account>>>;
  /** Rights of the senders; default: our own AWS account may use all accounts. */
  readonly rights?: AccountsConfig;
  readonly ownSender?: string;
}

const ownAccounts = (names: readonly string[]): AccountsConfig => ({
  accounts: names.flatMap((name) => ownAccount(name).accounts),
  awsAccounts: [],
  organization: undefined,
});

/** The type of a config allows more fields, even a clock. A function must use its ports instead. */
const misplaced = (): never => {
  throw new Error("a function used a clock of the config instead of its port");
};
const notOfPorts: Clock = { now: misplaced, sleep: misplaced };

/** Delivers one message at a time, so that the numbers of port calls do not depend on batches. */
const singly: Disturbance = { ...undisturbed, between: (_name, from) => from };

/** All ports of the automation, in memory and on virtual time. */
export const createWorld = async (options: WorldOptions) => {
  const { around = untouched, accounts = { local: {} } } = options;
  const { ownSender = SENDER } = options;
  const access = createAccess(options.rights ?? ownAccounts(Object.keys(accounts)), ownSender);
  const metrics = createRecordingMetrics();
  const clock = createVirtualClock(undefined, TURNS);
  const random = createSeededRandom();
  const ledger = createMemoryLedger();
  const bus = createRecordingBus(ledger, ownSender);
  const log = createRecordingLog();
  const provider = await options.provider(clock);
  const cloud = await openCloud({
    ...{ clock, random, log: silentLog, store: createMemoryStore() },
    numbers: { commands: { maximumConcurrency: 1 } },
    disturbance: singly,
  });
  const queue = cloud.commandQueue;
  const wakes: number[] = [];
  const waker = {
    wakeAt: async (at: number): Promise<void> => {
      wakes.push(at);
    },
  };
  const errors: unknown[] = [];
  let wokenUntil = 0;
  /** The next wake signal before this time, epoch ms. */
  const nextWake = (endsAt: number): number | undefined =>
    wakes
      .map((at) => Math.max(at, clock.now()))
      .filter((at) => at > wokenUntil && at < endsAt)
      .sort((a, b) => a - b)[0];
  let invocations = 0;
  let running = 0;
  let asleep = 0;
  let queries = { at: 0, count: 0 };

  const countQuery = (): void => {
    const at = clock.now();
    queries = { at, count: queries.at === at ? queries.count + 1 : 1 };
    if (queries.count > MAX_QUERIES_AT_ONCE)
      throw new Error("the poller runs in a loop without letting time pass");
  };
  // Looked up at each call, because a test may replace it.
  const countedLedger: Ledger = {
    read: (key) => ledger.read(key),
    write: (item) => ledger.write(item),
    listDue: async (...query) => {
      countQuery();
      return ledger.listDue(...query);
    },
    list: (...page) => ledger.list(...page),
  };

  const countedClock: Clock = {
    now: () => clock.now(),
    async sleep(durationMs, signal) {
      asleep += 1;
      await clock.sleep(durationMs, signal);
      asleep -= 1;
    },
  };

  /** The ports of one invocation, which has its own name and its own calls of every port. */
  const newInvocation = () => {
    invocations += 1;
    const invocation = invocations;
    const death = new AbortController();
    const call: Call = async (name, effect) => {
      try {
        return await around({ name, invocation }, effect);
      } catch (error) {
        if (error instanceof Error && error.name === "Killed") death.abort();
        throw error;
      }
    };
    const client = watchedClient(call, provider, clock);
    const deps: PollerDeps = {
      dueHandlers: createDueHandlers(),
      ...watchedPorts(call, { ledger: countedLedger, queue, bus, waker }),
      clock: countedClock,
      random,
      log,
      metrics,
      access,
      accountOf: (name) =>
        accounts[name] && { ...grantingAccount(name, client), ...accounts[name] },
      ownSender,
      fingerprintKey: FINGERPRINT_KEY,
      runner: `runner-${invocation}`,
      leaseMs: ATTEMPT_LEASE_MS,
      shards: createShards(1),
    };
    return {
      deps,
      death,
      /** The functions over these ports. @param own overrides the defaults of all tests */
      skyhook(own: Partial<SkyhookPorts & SkyhookConfig> = {}): Skyhook {
        const parts: SkyhookPorts & SkyhookConfig = {
          ...deps,
          // The time limit of an invocation is no pause.
          clock,
          log: { ...log, bind: () => {} },
          thresholds: createTextSource(),
          watchlist: createTextSource(),
          eventSource: "skyhook",
          reactions: [],
          attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
          jobAccount: DEFAULT_ACCOUNT,
          pricePeriodMs: periodMsOf("price-snapshot"),
          aiTaskName: undefined,
          ...own,
        };
        return createSkyhook(parts, Object.assign({}, parts, { clock: notOfPorts }));
      },
    };
  };

  const handle = async (body: string): Promise<void> => {
    const { deps } = newInvocation();
    const time = { signal: new AbortController().signal, has: () => true };
    await handleMessage(deps, readMessage(body, deps), body, time);
  };

  const startMachine = (_target: string, name: string): Machine => {
    const { skyhook, death } = newInvocation();
    const functions = skyhook();
    return {
      ...{ name, clock, death: death.signal, kill: () => death.abort(), suspendedMs: () => 0 },
      skyhook: {
        ...functions,
        async runCommands(...call) {
          running += 1;
          try {
            return await functions.runCommands(...call);
          } catch (error) {
            errors.push(error);
            throw error;
          } finally {
            running -= 1;
          }
        },
      },
    };
  };
  let isStarted = false;
  const start = (): void => {
    if (!isStarted) cloud.start({ startMachine, schedules: [] });
    isStarted = true;
  };

  /** Lets time pass while the code under test sleeps. Work that needs no time ends before. */
  const until = async (isOver: () => boolean): Promise<void> => {
    do {
      await clock.advance(asleep > 0 ? MAX_PAUSE_MS : 0, () => asleep === 0 || isOver());
    } while (!isOver());
  };

  const drive = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    work.then(end, end);
    await until(() => isOver);
    return work;
  };

  const deliver = async (): Promise<void> => {
    start();
    const nextAt = (): number => queue.nextAt() ?? Number.POSITIVE_INFINITY;
    await until(() => running === 0 && nextAt() > clock.now());
  };

  /** Runs one process of the poller, at once and for each wake signal, for as long as the test chooses. */
  const poll = async (durationMs = POLL_MS): Promise<void> => {
    const { deps } = newInvocation();
    const memory = createPollerMemory(deps.runner);
    const budget = { endsAt: clock.now() + durationMs, signal: new AbortController().signal };
    start();
    for (let at: number | undefined = clock.now(); at !== undefined; at = nextWake(budget.endsAt)) {
      await clock.advance(at - clock.now());
      wokenUntil = at;
      await drive(pollDue(deps, budget, memory)).catch((error: unknown) => void errors.push(error));
    }
  };

  const dueEntries = () => ledger.listDue(Number.MAX_SAFE_INTEGER, 1000);

  return {
    clock,
    ledger,
    bus,
    log,
    queue,
    provider,
    wakes,
    /** All counts, with name and dimensions. */
    counted: metrics.counted,
    measured: metrics.measured,
    /** Errors that invocations threw, in order. */
    errors,
    newInvocation,
    dueEntries,
    /** Puts a request into the queue like intake. A string is sent unchanged. */
    async send(detail: unknown): Promise<void> {
      const body = typeof detail === "string" ? detail : JSON.stringify(detail);
      const { lane } = readMessage(body, newInvocation().deps);
      const groupId = lane === undefined ? "not-understood" : groupIdOf(lane);
      await queue.send({ body, groupId, deduplicationId: random.uuid() });
    },
    /** Handles a request of another AWS account at once, like one from intake. */
    handleFrom: (sender: string, detail: unknown, eventId = "event"): Promise<void> =>
      handle(sealRequest({ sender, eventId, detail: JSON.stringify(detail) }, FINGERPRINT_KEY)),
    /** Handles a request at once, without the queue. */
    handle: (detail: unknown): Promise<void> =>
      handle(typeof detail === "string" ? detail : JSON.stringify(detail)),
    /** Starts the functions on their first call, and delivers all visible messages. */
    deliver,
    /** Advances time while both functions run as often as they are due. */
    async pass(durationMs: number): Promise<void> {
      const endsAt = clock.now() + durationMs;
      while (clock.now() < endsAt) {
        await deliver();
        await poll(Math.min(POLL_MS, endsAt - clock.now()));
        await deliver();
        await clock.advance(Math.min(1_000, endsAt - clock.now()));
      }
    },
    /** Waits for work with these ports, and lets time pass while it sleeps. */
    drive,
    /** Runs the poller once; default: for 50 s. */
    poll,
    /** Alternates messages and runs of the poller until no work is left. */
    async untilQuiet(maxMs = 3 * 60 * 60 * 1000): Promise<void> {
      const endsAt = clock.now() + maxMs;
      while (clock.now() < endsAt) {
        await deliver();
        if (queue.size() === 0 && (await dueEntries()).length === 0) return;
        await poll();
        const next = nextWake(clock.now() + ROUND_MS) ?? clock.now() + ROUND_MS;
        await clock.advance(next - clock.now());
      }
      throw new Error(`not quiet: ${queue.size()} messages, ${JSON.stringify(await dueEntries())}`);
    },
    /** The command in the ledger. */
    async command(id: string, sender = ownSender) {
      return (await commands.read(ledger, commandKey({ sender, id })))?.value;
    },
    /** The published events of one command, or of all, by detail-type. */
    publishedTypes: (commandId?: string): readonly string[] =>
      bus
        .published()
        .filter(({ metadata }) => commandId === undefined || metadata.commandId === commandId)
        .map(({ detailType }) => detailType),
  };
};

export type World = Awaited<ReturnType<typeof createWorld>>;
