import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createHandler as createPollTasks } from "../../functions/poll-tasks/handler.ts";
import { createHandler as createRunCommands } from "../../functions/run-commands/handler.ts";
import { createDynamodbLedger } from "../aws/dynamodb-ledger.ts";
import { createClient } from "../client/client.ts";
import type { CommandDeps } from "../commands/deps.ts";
import { DEFAULT_ACCOUNT } from "../commands/request.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import { breakPollerLease } from "../tasks/poller-lease.ts";
import { openDataDirectory } from "./data-directory.ts";
import { type DelayQueue, openDelayQueue } from "./delay-queue.ts";
import type { DurableStore } from "./durable-map.ts";
import { type FifoQueue, openFifoQueue } from "./fifo-queue.ts";
import { openLevelStore } from "./level-store.ts";
import { type LocalBus, openLocalBus } from "./local-bus.ts";
import { openLocalTable } from "./local-table.ts";
import { createMemoryStore } from "./memory-store.ts";
import { openProvider, type Provider, type ProviderChoice } from "./provider.ts";
import { startTriggers } from "./triggers.ts";

const TABLE_NAME = "skyhook-local";
/** Sender of everything that is sent to a local run. */
export const LOCAL_SENDER = "local";
/** As in the cloud: five tries, then the dead letters. */
const MAX_RECEIVE_COUNT = 5;

export interface AutomationOptions {
  readonly provider: ProviderChoice;
  /** Where everything is kept across runs; absent: in memory. */
  readonly directory: string | undefined;
  /** `source` of every event that goes out. */
  readonly eventSource: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The whole automation in this process: the deployed functions, run by local triggers. */
export interface Automation {
  readonly deps: CommandDeps;
  readonly bus: LocalBus;
  readonly provider: Provider;
  /** Begins to run functions and to deliver events. To be called once. */
  start(): void;
  stop(): Promise<void>;
}

interface Parts {
  readonly store: DurableStore;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
  readonly bus: LocalBus;
}

const openParts = async (
  options: AutomationOptions,
  directory: string | undefined,
): Promise<Parts> => {
  const store = directory === undefined ? createMemoryStore() : await openLevelStore(directory);
  const queueMap = store.map("commands.fifo");
  return {
    store,
    commandQueue: await openFifoQueue({
      ...options,
      map: queueMap,
      maxReceiveCount: MAX_RECEIVE_COUNT,
    }),
    wakeQueue: await openDelayQueue({ ...options, map: store.map("wake") }),
    bus: await openLocalBus({ ...options, map: store.map("bus"), source: options.eventSource }),
  };
};

/** A clock whose sleeps end when the signal aborts, so that a waiting function ends with its process. */
const untilStopped = (clock: Clock, stopping: AbortSignal): Clock => ({
  now: clock.now,
  sleep: (durationMs, signal) =>
    clock.sleep(durationMs, signal ? AbortSignal.any([signal, stopping]) : stopping),
});

const accountOf = (provider: Provider, clock: Clock) => {
  const account = {
    name: DEFAULT_ACCOUNT,
    settleMs: provider.settleMs,
    canList: provider.canList,
    client: createClient({ ...provider, fetch, clock }),
  };
  return (name: string) => (name === account.name ? account : undefined);
};

/**
 * Opens service, ledger, queues and bus on this machine, and composes the functions with them.
 * @throws Error when a port is taken or the data directory is in use by another run
 */
export const openAutomation = async (options: AutomationOptions): Promise<Automation> => {
  const { clock, random, log } = options;
  const data =
    options.directory === undefined
      ? undefined
      : await openDataDirectory(options.directory, random);
  const parts = await openParts(options, data?.messages);
  const table = await openLocalTable({ tableName: TABLE_NAME, directory: data?.ledger, clock });
  const provider = await openProvider(options.provider, {
    clock,
    random,
    log,
    directory: data?.service,
  });
  const dynamodb = new DynamoDBClient(table.clientConfig);
  const deps: CommandDeps = {
    ledger: createDynamodbLedger({ client: dynamodb, tableName: TABLE_NAME }),
    queue: parts.commandQueue,
    waker: parts.wakeQueue,
    bus: parts.bus,
    clock,
    random,
    log,
    accountOf: accountOf(provider, clock),
    ownSender: LOCAL_SENDER,
    fingerprintKey: data?.fingerprintKey ?? random.uuid(),
    runner: random.uuid(),
    // An attempt sends once and may read once; after both timeouts its holder is gone.
    leaseMs: 2 * provider.attemptTimeoutMs + 1_000,
  };
  const functionLog = { ...log, bind: () => {} };
  const functionDeps = { log: functionLog, attemptTimeoutMs: provider.attemptTimeoutMs };
  const stopping = new AbortController();
  const pollDeps = { ...deps, clock: untilStopped(clock, stopping.signal) };
  let triggers: ReturnType<typeof startTriggers> | undefined;

  // The folder is open in this process only, so whoever held the lease is gone.
  await breakPollerLease(deps.ledger);

  return {
    deps,
    bus: parts.bus,
    provider,
    start() {
      parts.bus.start();
      triggers = startTriggers({
        clock,
        random,
        log,
        commandQueue: parts.commandQueue,
        wakeQueue: parts.wakeQueue,
        runCommands: createRunCommands(async () => ({ ...functionDeps, commands: deps })),
        pollTasks: createPollTasks(async () => ({ ...functionDeps, commands: pollDeps })),
      });
    },
    async stop() {
      stopping.abort();
      await triggers?.stop();
      await parts.bus.stop();
      dynamodb.destroy();
      await table.close();
      await provider.close();
      await parts.store.close();
    },
  };
};
