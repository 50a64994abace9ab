import type {
  Context,
  S3ObjectCreatedNotificationEvent,
  ScheduledEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from "aws-lambda";
import { parseJson } from "./contract/json.ts";
import type { AttemptTime } from "./engine/advance.ts";
import type { CommandDeps } from "./engine/deps.ts";
import { errorFields } from "./engine/deps.ts";
import { handleMessage } from "./engine/message-handler.ts";
import type { PollerDeps } from "./engine/poller/entry-work.ts";
import { pollDue } from "./engine/poller/poll.ts";
import { createPollerMemory, type PollerMemory } from "./engine/poller/poller-memory.ts";
import { readMessage } from "./engine/queue-message.ts";
import { wakeRetiredShards } from "./engine/shards.ts";
import { callFields, type QueuedCall, readBatch } from "./intake/bus-event.ts";
import { type IntakeDeps, ingest } from "./intake/ingest.ts";
import { aiTasks } from "./jobs/ai-tasks/ai-task.ts";
import { aiWatches } from "./jobs/ai-tasks/ai-watch.ts";
import { watchAiTasks } from "./jobs/ai-tasks/watch-ai-tasks.ts";
import { capturePrices, type PriceRun, priceRunFields } from "./jobs/prices/capture.ts";
import { priceItems, priceRuns } from "./jobs/prices/price.ts";
import { syncThresholds } from "./jobs/thresholds/sync.ts";
import type { SyncCause } from "./jobs/thresholds/sync-events.ts";
import { thresholdSyncs } from "./jobs/thresholds/threshold-sync.ts";
import { answerBatch, type BatchItem } from "./platform/lambda/batch.ts";
import { createHandler, type InvocationLog, withTimeBudget } from "./platform/lambda/invocation.ts";
import type { ConfigSource } from "./platform/ports/config-source.ts";
import { MAX_SHARDS } from "./platform/ports/ledger.ts";
import type { Waker } from "./platform/ports/queue.ts";
import type { Account } from "./provider/accounts.ts";

/** Minimum time to record a waiting command, ms: several times the usual latency of ledger and bus. */
const RECORD_MS = 1_000;

/** Ports to everything outside the process. */
export interface SkyhookPorts
  extends Pick<
    CommandDeps,
    "ledger" | "queue" | "bus" | "waker" | "clock" | "random" | "metrics" | "accountOf"
  > {
  readonly log: InvocationLog;
  /** Source of the thresholds file, for `syncThresholds`. */
  readonly thresholds: ConfigSource;
  /** Source of the watchlist, for `snapshotPrices`. */
  readonly watchlist: ConfigSource;
}

/** Configuration of the functions. */
export interface SkyhookConfig
  extends Pick<
      CommandDeps,
      "access" | "ownSender" | "fingerprintKey" | "runner" | "leaseMs" | "shards"
    >,
    Pick<PollerDeps, "manyEntries"> {
  /** `source` of every published event. */
  readonly eventSource: string;
  /** Rules that turn events into commands; each invocation reads them again. */
  readonly reactions: IntakeDeps["reactions"];
  /** Maximum duration of one call to the provider, ms: a new attempt starts with at least this time left. */
  readonly attemptTimeoutMs: number;
  /** Name of the account of the scheduled jobs. */
  readonly jobAccount: string;
  /** Period of the schedule of `snapshotPrices`, ms; ticks in one period belong to one run. */
  readonly pricePeriodMs: number;
  /** Name of the AI tasks to watch; undefined: all. */
  readonly aiTaskName: string | undefined;
}

type IntakePorts = Pick<
  SkyhookPorts,
  "ledger" | "queue" | "bus" | "clock" | "random" | "log" | "metrics"
>;
type IntakeConfig = Pick<
  SkyhookConfig,
  "access" | "ownSender" | "fingerprintKey" | "eventSource" | "reactions"
>;
type CommandPorts = IntakePorts & Pick<SkyhookPorts, "waker" | "accountOf">;
type CommandConfig = Pick<
  SkyhookConfig,
  "access" | "ownSender" | "fingerprintKey" | "runner" | "leaseMs" | "attemptTimeoutMs" | "shards"
>;
type JobPorts = Pick<
  SkyhookPorts,
  "ledger" | "bus" | "clock" | "random" | "log" | "metrics" | "accountOf"
>;

const intakeItem = (deps: IntakeDeps, { messageId, body }: QueuedCall): BatchItem => ({
  id: messageId,
  // Events have no order. The command queue orders the commands that they cause.
  lane: undefined,
  async run() {
    const call = parseJson(body);
    const log = deps.log.with({ messageId });
    try {
      await ingest({ ...deps, log }, call);
    } catch (error) {
      const fields = { ...callFields(call), ...errorFields(error) };
      log.error("event not accepted, SQS delivers it again", fields);
      throw error;
    }
  },
});

/** Accepts calls of bus rules. Bus policies and rules have already decided who may put events. */
export const createIntake = (ports: IntakePorts, config: IntakeConfig) =>
  createHandler(
    ports.log,
    async (call: unknown): Promise<SQSBatchResponse | undefined> => {
      const deps = { ...config, ...ports };
      const batch = readBatch(call);
      if (batch) {
        // All items start at once, so none can lack time.
        return answerBatch(
          batch.map((message) => intakeItem(deps, message)),
          () => true,
        );
      }
      await ingest(deps, call);
      return undefined;
    },
    callFields,
  );

/** Makes an item of a batch. An unreadable message fails alone, without the rest of its batch. */
const commandItem = (
  deps: CommandDeps,
  { messageId, body }: SQSRecord,
  time: AttemptTime,
): BatchItem => {
  const own = { ...deps, log: deps.log.with({ messageId }) };
  try {
    const message = readMessage(body, own);
    const run = () => handleMessage(own, message, body, time);
    return { id: messageId, lane: message.lane, run };
  } catch (error) {
    own.log.error("message not readable, SQS delivers it again", errorFields(error));
    return { id: messageId, lane: undefined, run: () => Promise.reject(error) };
  }
};

/** A wake signal that comes this soon may find the due index without what was just written. */
const INDEX_LAG_MS = 500;

/** Asks for one poller run only where several tasks begin at nearly the same time. */
const createSparingWaker = ({ waker, clock }: Pick<CommandPorts, "waker" | "clock">): Waker => {
  const wakes = new Map<number, number>();
  return {
    async wakeAt(at, shard) {
      const wakesAt = wakes.get(shard) ?? 0;
      // The run at that time sees what is due later, and asks for the next run.
      if (wakesAt >= clock.now() + INDEX_LAG_MS && wakesAt <= at) return;
      await waker.wakeAt(at, shard);
      wakes.set(shard, at);
    },
  };
};

/** Runs commands from the FIFO queue. Resolves to the messages that SQS must deliver again. */
export const createRunCommands = (ports: CommandPorts, config: CommandConfig) => {
  const deps = { ...config, ...ports, waker: createSparingWaker(ports) };
  return createHandler(ports.log, (event: SQSEvent, context) =>
    withTimeBudget(context, ports.clock, (budget) => {
      const time = { signal: budget.signal, has: () => budget.has(config.attemptTimeoutMs) };
      const items = event.Records.map((record) => commandItem(deps, record, time));
      return answerBatch(items, () => budget.has(RECORD_MS));
    }),
  );
};

/** Publishers of the events that a job left in an outbox, by kind of record; for the poller. */
export const createDueHandlers = () =>
  new Map(
    [thresholdSyncs, priceItems, priceRuns, aiTasks, aiWatches].map(({ kind, publish }) => [
      kind,
      publish,
    ]),
  );

/** A tick of the poller: `Input` in infra/schedules.cjs. */
type PollTick = Partial<Pick<ScheduledEvent, "id">> & { readonly shard?: number };

const isShard = (number: number): boolean =>
  Number.isInteger(number) && number >= 0 && number < MAX_SHARDS;

/** Shards that an event names. Ticks and wake signals of earlier versions name none, and mean the first. */
const shardsIn = (event: PollTick | SQSEvent): ReadonlySet<number> => {
  const named = "Records" in event ? event.Records.map(({ body }) => body) : [event.shard ?? 0];
  return new Set(named.map(Number).map((number) => (isShard(number) ? number : 0)));
};

/** Runs the poller once for each shard that the event names, for a tick of the schedule or a wake signal alike. */
export const createPollTasks = (
  ports: CommandPorts,
  config: CommandConfig & Pick<SkyhookConfig, "manyEntries">,
) => {
  const deps = { ...config, ...ports, dueHandlers: createDueHandlers() };
  const runner = ports.random.uuid();
  const memories = new Map<number, PollerMemory>();
  const memoryOf = (shard: number): PollerMemory => {
    const memory = memories.get(shard) ?? createPollerMemory(runner, shard);
    memories.set(shard, memory);
    return memory;
  };
  return createHandler(ports.log, (event: PollTick | SQSEvent, context) =>
    withTimeBudget(context, ports.clock, async (budget) => {
      const runs = [...shardsIn(event)].map((shard) => pollDue(deps, budget, memoryOf(shard)));
      if (!("Records" in event) && !event.shard) runs.push(wakeRetiredShards(deps));
      // The process may be frozen after an answer, so none is given while a run is under way.
      await Promise.allSettled(runs);
      await Promise.all(runs);
    }),
  );
};

const accountNamed = (name: string, { accountOf }: JobPorts): Account => {
  const account = accountOf(name);
  if (!account) throw new Error(`job account ${name}: no such account in the accounts file`);
  return account;
};

type SyncEvent = S3ObjectCreatedNotificationEvent | ScheduledEvent;

/** Cause of a sync. A manual call has neither id nor type and counts as a tick of the schedule. */
const causeOf = (event: SyncEvent, { awsRequestId }: Context): SyncCause => {
  const eventId = event.id || awsRequestId;
  return event["detail-type"] === "Object Created"
    ? // An event without a sequencer always counts.
      { kind: "object-created", eventId, sequencer: event.detail.object.sequencer || undefined }
    : { kind: "schedule", eventId };
};

/** Makes the provider's thresholds equal to the file. The calling event is only a hint. */
export const createSyncThresholds = (
  ports: JobPorts & Pick<SkyhookPorts, "thresholds">,
  { jobAccount }: Pick<SkyhookConfig, "jobAccount">,
) =>
  createHandler(
    ports.log,
    (event: SyncEvent, context) => {
      const account = accountNamed(jobAccount, ports);
      const request = { account, source: ports.thresholds, cause: causeOf(event, context) };
      return withTimeBudget(context, ports.clock, (budget) =>
        syncThresholds(ports, request, budget),
      );
    },
    (event, context) => ({ correlationId: causeOf(event, context).eventId }),
  );

/** Event of the schedule: `Input` in infra/schedules.cjs. */
type PriceTick = Pick<ScheduledEvent, "id" | "time">;

/** Prices the watchlist once in the period of the tick. */
export const createSnapshotPrices = (
  ports: JobPorts & Pick<SkyhookPorts, "watchlist">,
  { jobAccount, pricePeriodMs }: Pick<SkyhookConfig, "jobAccount" | "pricePeriodMs">,
) => {
  /** Makes the run of a tick. The tick's time selects the period, so a late tick does not run in the next one. */
  const runOf = ({ time }: PriceTick): PriceRun => ({
    account: accountNamed(jobAccount, ports),
    source: ports.watchlist,
    periodMs: pricePeriodMs,
    scheduledAt: Date.parse(time),
  });
  return createHandler(
    ports.log,
    (tick: PriceTick, context) =>
      withTimeBudget(context, ports.clock, (budget) => capturePrices(ports, runOf(tick), budget)),
    (tick) => priceRunFields(runOf(tick)),
  );
};

/** Finds new AI tasks and publishes the end of each. */
export const createWatchAiTasks = (
  ports: JobPorts,
  { jobAccount, aiTaskName }: Pick<SkyhookConfig, "jobAccount" | "aiTaskName">,
) => {
  const fieldsOf = ({ id }: ScheduledEvent) => ({ correlationId: id });
  return createHandler(
    ports.log,
    (event: ScheduledEvent, context) => {
      const watch = { account: accountNamed(jobAccount, ports), taskName: aiTaskName };
      const deps = { ...ports, log: ports.log.with(fieldsOf(event)) };
      return withTimeBudget(context, ports.clock, (budget) => watchAiTasks(deps, watch, budget));
    },
    fieldsOf,
  );
};

/**
 * Composes the six functions. Each member is an AWS Lambda handler: `(event, context)` to the result.
 * Nothing is opened, read or sent before the first call of a handler, so that a Skyhook over other ports,
 * such as a recording bus, costs nothing.
 *
 * | handler | called with | resolves to |
 * |---|---|---|
 * | `intake` | messages of the queue `requests` (or one event, from a rule of an earlier version) | the messages that SQS must deliver again; undefined for one event |
 * | `runCommands` | messages of the FIFO queue `commands` | the messages that SQS must deliver again |
 * | `pollTasks` | a tick or wake signals, with the numbers of shards | nothing |
 * | `syncThresholds` | S3's "Object Created", or a tick | nothing |
 * | `snapshotPrices` | the `id` and `time` of a tick | nothing |
 * | `watchAiTasks` | a tick | nothing |
 *
 * A handler rejects when its caller has to retry: a port failed, the time was too short, no message of a
 * batch could be handled, or a job's account does not exist. It logs the error first. A handler starts no
 * new work in the last 3 s of `context.getRemainingTimeInMillis()`.
 *
 * A function on AWS uses one of the factories above, so that its bundle has no code of the others.
 * @param ports shared by all six; handlers of one account share its permits and its API key
 * @param config complete, because there are no defaults
 */
export const createSkyhook = (ports: SkyhookPorts, config: SkyhookConfig) => ({
  intake: createIntake(ports, config),
  runCommands: createRunCommands(ports, config),
  pollTasks: createPollTasks(ports, config),
  syncThresholds: createSyncThresholds(ports, config),
  snapshotPrices: createSnapshotPrices(ports, config),
  watchAiTasks: createWatchAiTasks(ports, config),
});

export type Skyhook = ReturnType<typeof createSkyhook>;
