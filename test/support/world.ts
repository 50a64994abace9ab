import { setImmediate as letOthersRun } from "node:timers/promises";
import { commandKey, commands } from "../../lib/engine/command.ts";
import { groupIdOf } from "../../lib/engine/lane.ts";
import { handleMessage } from "../../lib/engine/message-handler.ts";
import type { PollerDeps } from "../../lib/engine/poller/due-entries.ts";
import { pollDue } from "../../lib/engine/poller/poll.ts";
import { readMessage, sealRequest } from "../../lib/engine/queue-message.ts";
import { fifoQueueEvent, lambdaContext } from "../../lib/local/aws-events.ts";
import { createMemoryStore } from "../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../lib/local/fifo-queue.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  deployment,
  periodMsOf,
  timeoutMsOf,
  visibilityMsOf,
} from "../../lib/platform/deployment.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";
import type { Ledger } from "../../lib/platform/ports/ledger.ts";
import { createAccess } from "../../lib/provider/access.ts";

import { type Account, DEFAULT_ACCOUNT } from "../../lib/provider/accounts.ts";
import { type AccountsConfig, ownAccount } from "../../lib/provider/accounts-config.ts";
import {
  createDueHandlers,
  createSkyhook,
  type Skyhook,
  type SkyhookConfig,
  type SkyhookPorts,
} from "../../lib/skyhook.ts";
import { type Around, untouched } from "./faults.ts";
import { createRecordingLog } from "./logs.ts";
import { createMemoryLedger } from "./memory-ledger.ts";
import type { Provider } from "./provider.ts";
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
/** Of the event loop. */
const TURNS_BEFORE_TIME = 30;
/** A poller that asks so often without letting time pass would never stop. */
const MAX_QUERIES_AT_ONCE = 100;

export interface WorldOptions {
  readonly provider: (clock: VirtualClock) => Provider | Promise<Provider>;
  readonly around?: Around;
  /** Accounts beside or instead of `local`; what is not given is as in `local`. */
  readonly accounts?: Readonly<Record<string, Partial<Account>>>;
  /** Who may use them; absent: our own AWS account, all of them. */
  readonly rights?: AccountsConfig;
  readonly ownSender?: string;
}

const ownAccounts = (names: readonly string[]): AccountsConfig => ({
  accounts: names.flatMap((name) => ownAccount(name).accounts),
  awsAccounts: [],
  organization: undefined,
});

/** A config may be an object with more in it, even a clock: what a function reaches is its ports. */
const misplaced = (): never => {
  throw new Error("a function took its clock from the config");
};
const notOfPorts: Clock = { now: misplaced, sleep: misplaced };

/** Everything that the automation stands on, in memory and on virtual time. */
export const createWorld = async (options: WorldOptions) => {
  const { around = untouched, accounts = { local: {} } } = options;
  const { ownSender = SENDER } = options;
  const access = createAccess(options.rights ?? ownAccounts(Object.keys(accounts)), ownSender);
  const metrics = createRecordingMetrics();
  const clock = createVirtualClock();
  const random = createSeededRandom();
  const ledger = createMemoryLedger();
  const bus = createRecordingBus(ledger, ownSender);
  const log = createRecordingLog();
  const provider = await options.provider(clock);
  const map = createMemoryStore().map("queue");
  const { maxReceiveCount } = deployment.queues.commands;
  const queue = await openFifoQueue({ map, clock, random, maxReceiveCount });
  const wakes: number[] = [];
  const waker = {
    wakeAt: async (at: number): Promise<void> => {
      wakes.push(at);
    },
  };
  const errors: unknown[] = [];
  let invocations = 0;
  let queries = { at: 0, count: 0 };

  const countQuery = (): void => {
    const at = clock.now();
    queries = { at, count: queries.at === at ? queries.count + 1 : 1 };
    if (queries.count > MAX_QUERIES_AT_ONCE) throw new Error("the poller spins");
  };
  // What it stands for is looked up at each call: a test may replace it.
  const countedLedger: Ledger = {
    read: (key) => ledger.read(key),
    write: (item) => ledger.write(item),
    listDue: async (until, limit) => {
      countQuery();
      return ledger.listDue(until, limit);
    },
  };

  /** What one invocation of a function has: its own name and its own way to every port. */
  const newInvocation = () => {
    invocations += 1;
    const invocation = invocations;
    const call: Call = (name, effect) => around({ name, invocation }, effect);
    const client = watchedClient(call, provider, clock);
    const deps: PollerDeps = {
      dueHandlers: createDueHandlers(),
      ...watchedPorts(call, { ledger: countedLedger, queue, bus, waker }),
      clock: {
        now: clock.now,
        // While the poller sleeps, the other function handles what has come.
        sleep: async (ms, signal) => {
          // What is under way and needs no time is done before any passes.
          for (let turn = 0; turn < TURNS_BEFORE_TIME && !signal?.aborted; turn++) {
            await letOthersRun();
          }
          if (signal?.aborted) return;
          await clock.advance(ms);
          await deliver();
        },
      },
      random,
      log,
      metrics,
      access,
      accountOf: (name) =>
        accounts[name] && {
          name,
          client,
          ambiguityWindowMs: 300_000,
          canList: true,
          ready: async () => ({ kind: "ready" }),
          pathOf: ({ path }) => path,
          ...accounts[name],
        },
      ownSender,
      fingerprintKey: FINGERPRINT_KEY,
      runner: `runner-${invocation}`,
      leaseMs: ATTEMPT_LEASE_MS,
    };
    return {
      deps,
      call,
      /** The functions over these ports; `own` instead of what is the same for all tests. */
      skyhook(own: Partial<SkyhookPorts & SkyhookConfig> = {}): Skyhook {
        const parts: SkyhookPorts & SkyhookConfig = {
          ...deps,
          // The time of an invocation runs out by the test's clock, which no sleep moves.
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

  /** Has run-commands handle one visible message; false when there is none. */
  const deliverOne = async (): Promise<boolean> => {
    const [received] = await queue.receive(1, visibilityMsOf("commands"));
    if (!received) return false;
    const invocation = newInvocation();
    try {
      const context = lambdaContext("run-commands", timeoutMsOf("run-commands"), { clock, random });
      const { runCommands } = invocation.skyhook();
      await runCommands(fifoQueueEvent("commands.fifo", [received]), context);
      await invocation.call("queue.acknowledge", async () => {
        await queue.acknowledge(received.receiptHandle);
      });
    } catch (error) {
      errors.push(error);
    }
    return true;
  };

  const deliver = async (): Promise<void> => {
    while (await deliverOne());
    await letOthersRun();
  };

  /** Not by its function: here the poller's own sleeps move the time. */
  const poll = async (durationMs = POLL_MS): Promise<void> => {
    const { deps } = newInvocation();
    const budget = { endsAt: clock.now() + durationMs, signal: new AbortController().signal };
    try {
      await pollDue(deps, budget);
    } catch (error) {
      errors.push(error);
    }
  };

  /** Messages that wait or are being handled. */
  const outstanding = async (): Promise<number> =>
    (await map.load()).filter(([, record]) => JSON.stringify(record).includes('"kind":"message"'))
      .length;

  const dueEntries = () => ledger.listDue(Number.MAX_SAFE_INTEGER, 1000);

  return {
    clock,
    ledger,
    bus,
    log,
    queue,
    provider,
    wakes,
    /** What was counted: name and dimensions. */
    counted: metrics.counted,
    measured: metrics.measured,
    /** What escaped from invocations, in order. */
    errors,
    newInvocation,
    dueEntries,
    /** Puts a request into the queue as the intake does; text is sent as it is. */
    async send(detail: unknown): Promise<void> {
      const body = typeof detail === "string" ? detail : JSON.stringify(detail);
      const { lane } = readMessage(body, newInvocation().deps);
      const groupId = lane === undefined ? "not-understood" : groupIdOf(lane);
      await queue.send({ body, groupId, deduplicationId: random.uuid() });
    },
    /** Handles at once a request of another AWS account, as intake hands it on. */
    handleFrom: (sender: string, detail: unknown, eventId = "event"): Promise<void> =>
      handle(sealRequest({ sender, eventId, detail: JSON.stringify(detail) }, FINGERPRINT_KEY)),
    /** Handles a request at once, without the queue. */
    handle: (detail: unknown): Promise<void> =>
      handle(typeof detail === "string" ? detail : JSON.stringify(detail)),
    deliver,
    /** Lets time pass with both functions at work, as often as they want to. */
    async pass(durationMs: number): Promise<void> {
      const endsAt = clock.now() + durationMs;
      while (clock.now() < endsAt) {
        await deliver();
        await poll(Math.min(POLL_MS, endsAt - clock.now()));
        await deliver();
        await clock.advance(Math.min(1_000, endsAt - clock.now()));
      }
    },
    /** One run of the poller, of 50 s unless told. */
    poll,
    /** Alternates messages and poller runs until no work is left. */
    async untilQuiet(maxMs = 3 * 60 * 60 * 1000): Promise<void> {
      const endsAt = clock.now() + maxMs;
      while (clock.now() < endsAt) {
        await deliver();
        if ((await outstanding()) === 0 && (await dueEntries()).length === 0) return;
        await poll();
        await clock.advance(ROUND_MS);
      }
      throw new Error(
        `not quiet: ${await outstanding()} messages, ${JSON.stringify(await dueEntries())}`,
      );
    },
    /** The command as the ledger has it. */
    async command(id: string, sender = ownSender) {
      return (await commands.read(ledger, commandKey({ sender, id })))?.value;
    },
    /** The published events of one command, or of all, by detail-type. */
    told: (commandId?: string): readonly string[] =>
      bus
        .published()
        .filter(({ metadata }) => commandId === undefined || metadata.commandId === commandId)
        .map(({ detailType }) => detailType),
  };
};

export type World = Awaited<ReturnType<typeof createWorld>>;
