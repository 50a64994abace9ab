import { joinDeadLetters } from "../admin/dead-letters.ts";
import { breakAttempts } from "../engine/attempt.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { POLLER_LEASE } from "../engine/poller/poll.ts";
import type { Reaction } from "../intake/reaction.ts";
import { aiTasksLease } from "../jobs/ai-tasks/watch-ai-tasks.ts";
import { thresholdsLease } from "../jobs/thresholds/sync.ts";
import { breakLease } from "../ledger/lease.ts";
import { ATTEMPT_LEASE_MS, ATTEMPT_TIMEOUT_MS, deployment } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { DeadLetters } from "../platform/ports/dead-letters.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import { type Account, DEFAULT_ACCOUNT } from "../provider/accounts.ts";
import { type AccountsConfig, ownAccount } from "../provider/accounts-config.ts";
import { createSkyhook, type SkyhookConfig, type SkyhookPorts } from "../skyhook.ts";
import { LOCAL_SENDER } from "./aws-events.ts";
import { createClosing, quietAfter } from "./closing.ts";
import { openDataDirectory, withDataError } from "./data-directory.ts";
import { type DelayQueue, openDelayQueue } from "./delay-queue.ts";
import type { DurableStore } from "./durable-store.ts";
import { createMemoryStore, openLevelStore } from "./durable-store.ts";
import type { Buses } from "./event-routes.ts";
import { createEventRoutes, type EventRoutes } from "./event-routes.ts";
import { type FifoQueue, openFifoQueue } from "./fifo-queue.ts";
import { createFileConfigSource, createSteadySource } from "./file-watch.ts";
import type { JobName, JobRun } from "./job-run.ts";
import { countedNowhere, openLocalAccounts } from "./local-accounts.ts";
import { type LocalBus, openLocalBus } from "./local-bus.ts";
import { createLocalDeadLetters } from "./local-dead-letters.ts";
import { openLocalLedger } from "./local-ledger.ts";
import { openProvider, type Provider, type ProviderChoice } from "./provider.ts";
import { type JobChoice, type ScheduledJobs, startScheduledJobs } from "./scheduled-jobs.ts";
import { deduplicationIdOf } from "./send-request.ts";
import { createWakeSignal, startTriggers, type WakeSignal } from "./triggers.ts";

export interface AutomationOptions {
  readonly provider: ProviderChoice;
  readonly jobs: JobChoice;
  /** Who may use which account; absent: our own AWS account the run's provider. */
  readonly accounts?: AccountsConfig | undefined;
  /** Which events become commands. */
  readonly reactions: readonly Reaction[];
  /** Where keys are that the accounts name as `environment`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where everything is kept across runs; absent: in memory. */
  readonly directory: string | undefined;
  /** `source` of every event that goes out. */
  readonly eventSource: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * A file that is edited must not lead the jobs elsewhere: they delete thresholds, and the ones of the
 * embedded service are none that anybody meant for a real provider.
 */
export class JobAccountMoved extends Error {
  override readonly name = "JobAccountMoved";
  constructor(account: string) {
    super(
      `the scheduled jobs run on account ${account}, at the provider that it had at the start; restart Skyhook to change either`,
    );
  }
}

/** The whole automation in this process: the deployed functions, run by local triggers. */
export interface Automation {
  readonly deps: CommandDeps;
  readonly bus: LocalBus;
  readonly defaultBus: LocalBus;
  readonly routes: EventRoutes;
  /** Those in effect. */
  readonly accounts: AccountsConfig;
  readonly reactions: readonly Reaction[];
  /**
   * Takes other accounts and reactions, for the next event and command. What is under way goes on with
   * the account that it has.
   * @throws JobAccountMoved when the scheduled jobs would be led elsewhere; nothing has changed then
   */
  readonly reconfigure: (config: Pick<AutomationOptions, "accounts" | "reactions">) => void;
  /** The account of the scheduled jobs, the same for the whole run. */
  readonly jobAccount: Account;
  readonly provider: Provider;
  /** Of run-commands and of intake. */
  readonly deadLetters: DeadLetters;
  /** Whether the message of that event still waits, or is being handled. */
  isQueued(eventId: string): boolean;
  /** Begins to run functions and to deliver events. To be called once. */
  start(): void;
  /** Runs a scheduled job now, as its schedule does, and waits for its end. */
  runJob(name: JobName): Promise<JobRun>;
  /** Takes a snapshot of prices now, as the schedule does. */
  snapshotPrices(): Promise<void>;
  /**
   * Aborts with the error of the first write to the data directory that failed. Nothing is written or
   * logged from then on; what is left is to stop.
   */
  readonly failed: AbortSignal;
  stop(): Promise<void>;
}

interface Parts extends Buses {
  /** A standard queue in the cloud. Here each of its messages has a group of its own. */
  readonly requestQueue: FifoQueue;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
}

const openParts = async (options: AutomationOptions, store: DurableStore): Promise<Parts> => ({
  requestQueue: await openFifoQueue({
    ...options,
    map: store.map("requests"),
    maxReceiveCount: deployment.queues.requests.maxReceiveCount,
  }),
  commandQueue: await openFifoQueue({
    ...options,
    map: store.map("commands.fifo"),
    maxReceiveCount: deployment.queues.commands.maxReceiveCount,
  }),
  wakeQueue: await openDelayQueue({ ...options, map: store.map("wake") }),
  bus: await openLocalBus({ ...options, map: store.map("bus"), source: options.eventSource }),
  defaultBus: await openLocalBus({
    ...options,
    map: store.map("default-bus"),
    source: options.eventSource,
  }),
});

/** The ports of the queues; each send notifies the triggers. */
const notifying = (
  { commandQueue, wakeQueue }: Parts,
  wakeSignal: WakeSignal,
): Pick<CommandDeps, "queue" | "waker"> => ({
  queue: {
    async send(message) {
      await commandQueue.send(message);
      wakeSignal.notify();
    },
  },
  waker: {
    async wakeAt(at) {
      await wakeQueue.wakeAt(at);
      wakeSignal.notify();
    },
  },
});

/** A clock whose sleeps end when the signal aborts, so that a waiting function ends with its process. */
const untilStopped = (clock: Clock, stopping: AbortSignal): Clock => ({
  now: clock.now,
  sleep: (durationMs, signal) =>
    clock.sleep(durationMs, signal ? AbortSignal.any([signal, stopping]) : stopping),
});

/** The file of a job; a job that a run does not do has none, and is never called. */
const sourceAt = (path: string | undefined, clock: Clock): ConfigSource =>
  path === undefined
    ? { name: "none", read: async () => undefined }
    : createSteadySource(createFileConfigSource(path), clock);

/** Everything that has to be open before a function can run, and how it is closed again. */
const openAll = async (options: AutomationOptions, failing: AbortController) => {
  const { clock, random, log, directory } = options;
  const closing = createClosing();
  try {
    const data = directory === undefined ? undefined : await openDataDirectory(directory, random);
    const store = data
      ? await openLevelStore({ directory: data.messages, failing })
      : createMemoryStore();
    closing.add(() => store.close());
    const parts = await openParts(options, store);
    // Under the lock that the opened messages are.
    const { ledger, close } = await openLocalLedger({ data, failing, clock, log });
    closing.add(close);
    const surroundings = { clock, random, log, data, failing };
    const provider = await openProvider(options.provider, surroundings);
    closing.add(() => provider.close());
    // The folder is open in this process only, so whoever held a lease is gone.
    await breakLease(ledger, POLLER_LEASE);
    await breakAttempts(ledger, clock.now());
    return { parts, provider, ledger, closing, fingerprintKey: data?.fingerprintKey };
  } catch (error) {
    await closing.close();
    throw error;
  }
};

/**
 * Opens service, ledger, queues and bus on this machine, and composes the functions with them.
 * @throws DataDirectoryError when the data directory cannot be used, for instance by a second run
 * @throws Error with code EADDRINUSE when a port is taken
 */
export const openAutomation = async (given: AutomationOptions): Promise<Automation> => {
  const failing = new AbortController();
  const options = { ...given, log: quietAfter(given.log, failing.signal) };
  const { clock, random, log } = options;
  const { parts, provider, ledger, closing, fingerprintKey } = await withDataError(
    options.directory,
    () => openAll(options, failing),
  );
  const wakeSignal = createWakeSignal();
  const own = ownAccount(DEFAULT_ACCOUNT, provider.requestsPerSecond);
  const { environment, eventSource } = options;
  const ports = { ledger, bus: parts.bus, clock, random, log, environment };
  const accounts = openLocalAccounts(options.accounts ?? own, provider, ports);
  const { access, accountOf } = accounts;
  // As in the cloud, where the packaging takes the first account for the scheduled jobs.
  const [jobSettings] = accounts.config.accounts;
  const jobAccount = jobSettings && accountOf(jobSettings.name);
  if (!jobAccount) throw new Error("there is no account");
  await breakLease(ledger, thresholdsLease(jobAccount.name));
  await breakLease(ledger, aiTasksLease(jobAccount.name));
  const deps: CommandDeps = {
    ledger,
    ...notifying(parts, wakeSignal),
    bus: parts.bus,
    clock,
    random,
    log,
    metrics: countedNowhere,
    access,
    accountOf,
    ownSender: LOCAL_SENDER,
    fingerprintKey: fingerprintKey ?? random.uuid(),
    runner: random.uuid(),
    leaseMs: ATTEMPT_LEASE_MS,
  };
  // Its lines are for a person, who has no use for invocation ids.
  const functionLog = { ...log, bind: () => {} };
  const stopping = new AbortController();
  const backgroundClock = untilStopped(clock, stopping.signal);
  const functionPorts: SkyhookPorts = {
    ...deps,
    log: functionLog,
    thresholds: sourceAt(options.jobs.thresholdsFile, backgroundClock),
    watchlist: sourceAt(options.jobs.watchlistFile, backgroundClock),
  };
  // A command's attempt goes on when the run stops; what only waits ends.
  const backgroundPorts = { ...functionPorts, clock: backgroundClock };
  const { aiTasks } = options.jobs;
  let { reactions } = options;
  const config: SkyhookConfig = {
    ...deps,
    eventSource,
    get reactions() {
      return reactions;
    },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    jobAccount: jobAccount.name,
    pricePeriodMs: provider.jobTimes.pricePeriodMs,
    aiTaskName: aiTasks === "all" ? undefined : aiTasks,
  };
  const routes = createEventRoutes({
    buses: parts,
    access,
    eventSource,
    first: { accounts: accounts.config, reactions: options.reactions },
    async send(call) {
      const id = random.uuid();
      const message = { body: JSON.stringify(call), groupId: id, deduplicationId: id };
      await parts.requestQueue.send(message);
      wakeSignal.notify();
    },
  });
  let triggers: ReturnType<typeof startTriggers> | undefined;
  let jobs: ScheduledJobs | undefined;

  return {
    deps,
    bus: parts.bus,
    defaultBus: parts.defaultBus,
    routes,
    get accounts() {
      return accounts.config;
    },
    get reactions() {
      return reactions;
    },
    reconfigure(next) {
      const config = next.accounts ?? own;
      const [first] = config.accounts;
      const isMoved = first?.name !== jobSettings.name || first.baseUrl !== jobSettings.baseUrl;
      const hasJobs = Object.values(options.jobs).some((choice) => choice !== undefined);
      if (isMoved && hasJobs) throw new JobAccountMoved(jobSettings.name);
      accounts.replace(config);
      reactions = next.reactions;
      routes.replace({ accounts: config, reactions: next.reactions });
    },
    jobAccount,
    provider,
    deadLetters: joinDeadLetters([
      createLocalDeadLetters({ clock, queue: parts.commandQueue, name: "commands" }),
      createLocalDeadLetters({ clock, queue: parts.requestQueue, name: "requests" }),
    ]),
    failed: failing.signal,
    isQueued: (eventId) => parts.commandQueue.holds(deduplicationIdOf(eventId)),
    start() {
      routes.connect();
      parts.bus.start();
      parts.defaultBus.start();
      const { intake, runCommands } = createSkyhook(functionPorts, config);
      const { pollTasks } = createSkyhook(backgroundPorts, config);
      triggers = startTriggers({
        ...options,
        ...parts,
        wakeSignal,
        intake,
        runCommands,
        pollTasks,
      });
      jobs = startScheduledJobs({
        ports: backgroundPorts,
        config,
        choice: options.jobs,
        times: provider.jobTimes,
      });
    },
    async runJob(name) {
      if (jobs) return jobs.run(name);
      return { kind: "failed", problem: "Skyhook is still starting; try again", events: [] };
    },
    async snapshotPrices() {
      await jobs?.snapshotPrices();
    },
    async stop() {
      stopping.abort();
      await jobs?.stop();
      await triggers?.stop();
      await parts.bus.stop();
      await parts.defaultBus.stop();
      await closing.close();
    },
  };
};
