import { createHash } from "node:crypto";
import { joinDeadLetters } from "../admin/dead-letters.ts";
import type { JobName, JobRun } from "../admin/job-run.ts";
import { parseJson } from "../contract/json.ts";
import type { Problem } from "../contract/problem.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { groupIdOf } from "../engine/lane.ts";
import { messageText, readMessage } from "../engine/queue-message.ts";
import { shapeProblems } from "../engine/read-request.ts";
import { createShards } from "../engine/shards.ts";
import type { Reaction } from "../intake/reaction.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  type FunctionName,
  periodMsOf,
} from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { DeadLetters } from "../platform/ports/dead-letters.ts";
import type { Account } from "../provider/accounts.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";
import { createSkyhook, type SkyhookConfig, type SkyhookPorts } from "../skyhook.ts";
import { quietAfter } from "./closing.ts";
import type { CloudStart, FunctionSchedule } from "./cloud.ts";
import { withDataError } from "./data-directory.ts";
import { createEventRoutes, type EventRoutes } from "./event-routes.ts";
import { createFileConfigSource, createSteadySource } from "./file-watch.ts";
import { createImmortalMachine } from "./lambda.ts";
import type { LocalBus } from "./local-bus.ts";
import { createLocalDeadLetters } from "./local-dead-letters.ts";
import { LOCAL_SENDER } from "./local-sender.ts";
import type { Provider } from "./provider.ts";
import { countedNowhere, openResources, type ResourceOptions } from "./resources.ts";
import {
  type JobChoice,
  type ScheduledJobs,
  schedulesOf,
  startScheduledJobs,
} from "./scheduled-jobs.ts";

export interface AutomationOptions extends ResourceOptions {
  readonly jobs: JobChoice;
  /** Rules that turn events into commands. */
  readonly reactions: readonly Reaction[];
}

/** Outcome of a text that was sent as a request. */
type SendOutcome =
  | {
      readonly kind: "sent";
      readonly commandId: string | undefined;
      readonly eventId: string | undefined;
    }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

/**
 * An edited accounts file would move the scheduled jobs to another account or provider. That is refused: the
 * jobs delete thresholds, and a thresholds file for the embedded service must not reach a real provider.
 */
export class JobAccountMoved extends Error {
  override readonly name = "JobAccountMoved";
  constructor(account: string) {
    super(
      `would move the scheduled jobs away from account ${account} or its provider; restart Skyhook to move them`,
    );
  }
}

/** The whole automation in one process: the deployed functions with local triggers. */
export interface Automation {
  readonly deps: CommandDeps;
  readonly bus: LocalBus;
  readonly defaultBus: LocalBus;
  readonly routes: EventRoutes;
  /** Accounts in effect. */
  readonly accounts: AccountsConfig;
  readonly reactions: readonly Reaction[];
  /**
   * Replaces accounts and reactions for the next event and command. Running attempts keep their account.
   * @throws JobAccountMoved when the scheduled jobs would move; then nothing changes
   */
  readonly reconfigure: (config: Pick<AutomationOptions, "accounts" | "reactions">) => void;
  /** The configured jobs. */
  readonly jobs: JobChoice;
  /** The account of the scheduled jobs, the same for the whole run. */
  readonly jobAccount: Account;
  readonly provider: Provider;
  /** Dead letters of run-commands and intake. */
  readonly deadLetters: DeadLetters;
  /**
   * Puts a request on the command queue as a sender in the cloud does: in the group of its lane, with the
   * event's id for deduplication. run-commands checks its operation and fields.
   * @param body detail of a `CommandRequested` as JSON text; anything else is refused
   */
  send(body: string): Promise<SendOutcome>;
  /** Reports whether the message of the event waits in the queue or is being handled. */
  isQueued(eventId: string): boolean;
  /** Starts functions and event delivery. Call it once. */
  start(): void;
  /** Runs a scheduled job now and waits for its end. */
  runJob(name: JobName): Promise<JobRun>;
  /** Takes a snapshot of prices now. */
  snapshotPrices(): Promise<void>;
  /**
   * Aborts with the error of the first failed write to the data directory. Nothing is written or logged from
   * then on; the run has to stop.
   */
  readonly failed: AbortSignal;
  stop(): Promise<void>;
}

const POLLER: FunctionSchedule = {
  name: "poll-tasks",
  target: "poll-tasks",
  periodMs: periodMsOf("poll-tasks"),
  firstMs: 0,
};

/** Group of requests that are no commands, so that they delay no lane. */
const REJECTED_GROUP = "rejected";

/** A deduplication id that SQS accepts. */
const DEDUPLICATION_ID = /^[!-~]{1,128}$/;

/** The event's id if the queue accepts it, else its hash. */
const deduplicationIdOf = (eventId: string): string =>
  DEDUPLICATION_ID.test(eventId) ? eventId : createHash("sha256").update(eventId).digest("hex");

const sendRequest = async (deps: CommandDeps, body: string): Promise<SendOutcome> => {
  const json = parseJson(body);
  const problems =
    json === undefined ? [{ path: "", rule: "not readable as JSON" }] : shapeProblems(json);
  const message = readMessage(body, deps);
  if (problems.length > 0 || message.kind === "resume") return { kind: "refused", problems };
  const { commandId, eventId } = message.kind === "request" ? message.request : message.rejection;
  if (commandId === undefined && eventId === undefined) {
    // A rejection without an id would have no answer for its sender.
    const missing = { path: "metadata.commandId", rule: "required, or metadata.id" };
    return { kind: "refused", problems: [missing] };
  }
  await deps.queue.send({
    body: messageText(body),
    groupId: message.lane === undefined ? REJECTED_GROUP : groupIdOf(message.lane),
    deduplicationId: deduplicationIdOf(eventId ?? deps.random.uuid()),
  });
  return { kind: "sent", commandId, eventId };
};

/** A clock with sleeps that end when the signal aborts, so that a waiting function ends with its process. */
const untilStopped = (clock: Clock, stopping: AbortSignal): Clock => ({
  now: clock.now,
  sleep: (durationMs, signal) =>
    clock.sleep(durationMs, signal ? AbortSignal.any([signal, stopping]) : stopping),
});

/** Source of a job's file; empty for a job that is not configured, which never runs. */
const sourceAt = (path: string | undefined, clock: Clock): ConfigSource =>
  path === undefined
    ? { name: "none", read: async () => undefined }
    : createSteadySource(createFileConfigSource(path), clock);

/**
 * Opens service, ledger, queues and buses on this machine and composes the functions with them.
 * @throws the errors of `openResources`
 */
export const openAutomation = async (given: AutomationOptions): Promise<Automation> => {
  const failing = new AbortController();
  const options = { ...given, log: quietAfter(given.log, failing.signal) };
  const { clock, random, log, eventSource } = options;
  const resources = await withDataError(options.directory, () => openResources(options, failing));
  const { ledger, accounts, jobSettings, jobAccount, provider } = resources;
  const { bus, defaultBus, cloud } = resources;
  const { access, accountOf } = accounts;
  const deps: CommandDeps = {
    ledger,
    queue: cloud.commandQueue,
    waker: cloud.wakeQueue,
    bus,
    clock,
    random,
    log,
    metrics: countedNowhere,
    access,
    accountOf,
    ownSender: LOCAL_SENDER,
    fingerprintKey: resources.fingerprintKey,
    runner: random.uuid(),
    leaseMs: ATTEMPT_LEASE_MS,
    shards: createShards(1),
  };
  // Developers read these lines in a terminal and do not need invocation ids.
  const functionLog = { ...log, bind: () => {} };
  const stopping = new AbortController();
  const backgroundClock = untilStopped(clock, stopping.signal);
  const functionPorts: SkyhookPorts = {
    ...deps,
    log: functionLog,
    thresholds: sourceAt(options.jobs.thresholdsFile, backgroundClock),
    watchlist: sourceAt(options.jobs.watchlistFile, backgroundClock),
  };
  // When the run stops, attempts of commands continue to their end, but functions that only wait end.
  const backgroundPorts = { ...functionPorts, clock: backgroundClock };
  const jobPorts = { ...backgroundPorts, log: quietAfter(functionLog, stopping.signal) };
  const { aiTasks } = options.jobs;
  let { reactions } = options;
  const { ownSender, fingerprintKey, runner, leaseMs, shards } = deps;
  const config: SkyhookConfig = {
    ...{ access, ownSender, fingerprintKey, runner, leaseMs, shards },
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
    buses: resources,
    access,
    eventSource,
    first: { accounts: accounts.config, reactions: options.reactions },
    send: (call) => cloud.put(call),
  });
  /** All invocations of a function share its machine: the process itself. */
  const openMachines = (): CloudStart["startMachine"] => {
    const machineWith = (ports: SkyhookPorts) => (name: string) =>
      createImmortalMachine({ name, clock: ports.clock, skyhook: createSkyhook(ports, config) });
    const commands = machineWith(functionPorts);
    const jobs = machineWith(jobPorts);
    const byFunction: Partial<Record<FunctionName, typeof jobs>> = {
      intake: commands,
      "run-commands": commands,
      "poll-tasks": machineWith(backgroundPorts),
    };
    return (target, name) => (byFunction[target] ?? jobs)(name);
  };
  let jobs: ScheduledJobs | undefined;

  return {
    deps,
    bus,
    defaultBus,
    routes,
    get accounts() {
      return accounts.config;
    },
    get reactions() {
      return reactions;
    },
    reconfigure(next) {
      const config = next.accounts ?? resources.ownConfig;
      const [first] = config.accounts;
      const isMoved = first?.name !== jobSettings.name || first.baseUrl !== jobSettings.baseUrl;
      const hasJobs = Object.values(options.jobs).some((choice) => choice !== undefined);
      if (isMoved && hasJobs) throw new JobAccountMoved(jobSettings.name);
      accounts.replace(config);
      reactions = next.reactions;
      routes.replace({ accounts: config, reactions: next.reactions });
    },
    jobs: options.jobs,
    jobAccount,
    provider,
    deadLetters: joinDeadLetters([
      createLocalDeadLetters({ clock, queue: cloud.commandQueue, name: "commands" }),
      createLocalDeadLetters({ clock, queue: cloud.requestQueue, name: "requests" }),
    ]),
    failed: failing.signal,
    send: (body) => sendRequest(deps, body),
    isQueued: (eventId) => cloud.commandQueue.holds(deduplicationIdOf(eventId)),
    start() {
      routes.connect();
      bus.start();
      defaultBus.start();
      cloud.start({
        startMachine: openMachines(),
        schedules: [POLLER, ...schedulesOf(options.jobs, provider.jobTimes)],
      });
      jobs = startScheduledJobs({ ports: jobPorts, config, choice: options.jobs, cloud });
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
      await cloud.stop();
      await bus.stop();
      await defaultBus.stop();
      await resources.close();
    },
  };
};
