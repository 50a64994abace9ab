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
import { pollDue } from "./engine/poller/poll.ts";
import { readMessage } from "./engine/queue-message.ts";
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
import type { Account } from "./provider/accounts.ts";

/** Several times what the ledger and the bus need to record a command that has to wait. */
const RECORD_MS = 1_000;

/** Everything that the functions reach outside their process. */
export interface SkyhookPorts
  extends Pick<
    CommandDeps,
    "ledger" | "queue" | "bus" | "waker" | "clock" | "random" | "metrics" | "accountOf"
  > {
  readonly log: InvocationLog;
  /** The thresholds that `syncThresholds` makes true. */
  readonly thresholds: ConfigSource;
  /** What `snapshotPrices` prices. */
  readonly watchlist: ConfigSource;
}

/** What the functions go by. */
export interface SkyhookConfig
  extends Pick<CommandDeps, "access" | "ownSender" | "fingerprintKey" | "runner" | "leaseMs"> {
  /** `source` of our own events. */
  readonly eventSource: string;
  /** Which events become which commands; each invocation reads them anew. */
  readonly reactions: IntakeDeps["reactions"];
  /** How long one call to the provider may take: a new attempt starts with at least this time left, ms. */
  readonly attemptTimeoutMs: number;
  /** Name of the account of the scheduled jobs. */
  readonly jobAccount: string;
  /** How often the schedule calls `snapshotPrices`, ms: ticks of one period are one run. */
  readonly pricePeriodMs: number;
  /** Only AI tasks of this name are watched; undefined: all. */
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
  "access" | "ownSender" | "fingerprintKey" | "runner" | "leaseMs" | "attemptTimeoutMs"
>;
type JobPorts = Pick<
  SkyhookPorts,
  "ledger" | "bus" | "clock" | "random" | "log" | "metrics" | "accountOf"
>;

const intakeItem = (deps: IntakeDeps, { messageId, body }: QueuedCall): BatchItem => ({
  id: messageId,
  // Events have no order among each other: the command queue orders what becomes of them.
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

/** Accepts what the rules of the buses send; they have decided who may send it. */
export const createIntake = (ports: IntakePorts, config: IntakeConfig) =>
  createHandler(
    ports.log,
    async (call: unknown): Promise<SQSBatchResponse | undefined> => {
      const deps = { ...config, ...ports };
      const batch = readBatch(call);
      if (batch) {
        // All of them begin at once, so there is no time to run short of.
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

/** A message that cannot be read fails by itself, and no other of its batch with it. */
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
    own.log.error("message not readable, it comes again", errorFields(error));
    return { id: messageId, lane: undefined, run: () => Promise.reject(error) };
  }
};

/** Runs commands from the FIFO queue; answers which messages must come again. */
export const createRunCommands = (ports: CommandPorts, config: CommandConfig) => {
  const deps = { ...config, ...ports };
  return createHandler(ports.log, (event: SQSEvent, context) =>
    withTimeBudget(context, ports.clock, (budget) => {
      const time = { signal: budget.signal, has: () => budget.has(config.attemptTimeoutMs) };
      const items = event.Records.map((record) => commandItem(deps, record, time));
      return answerBatch(items, () => budget.has(RECORD_MS));
    }),
  );
};

/** Publishes what a job has left in the outbox of a record, by kind of record; for the poller. */
export const createDueHandlers = () =>
  new Map(
    [thresholdSyncs, priceItems, priceRuns, aiTasks, aiWatches].map(({ kind, publish }) => [
      kind,
      publish,
    ]),
  );

/** One run of the poller; whether the schedule or a wake called it makes no difference. */
export const createPollTasks = (ports: CommandPorts, config: CommandConfig) => {
  const deps = { ...config, ...ports, dueHandlers: createDueHandlers() };
  return createHandler(ports.log, (_event: ScheduledEvent | SQSEvent, context) =>
    withTimeBudget(context, ports.clock, (budget) => pollDue(deps, budget)),
  );
};

const accountNamed = (name: string, { accountOf }: JobPorts): Account => {
  const account = accountOf(name);
  if (!account) throw new Error(`no account ${name}`);
  return account;
};

type SyncEvent = S3ObjectCreatedNotificationEvent | ScheduledEvent;

/** A call by hand has neither an id nor a type: it looks for drift, as the schedule does. */
const causeOf = (event: SyncEvent, { awsRequestId }: Context): SyncCause => {
  const eventId = event.id || awsRequestId;
  return event["detail-type"] === "Object Created"
    ? // Where there are no sequencers, every event counts.
      { kind: "object-created", eventId, sequencer: event.detail.object.sequencer || undefined }
    : { kind: "schedule", eventId };
};

/** Makes the provider's thresholds equal to the config; whatever calls it is a hint. */
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

/** What the schedule sends: `Input` in infra/schedules.cjs. */
type PriceTick = Pick<ScheduledEvent, "id" | "time">;

/** Prices the watchlist once for the period that the tick belongs to. */
export const createSnapshotPrices = (
  ports: JobPorts & Pick<SkyhookPorts, "watchlist">,
  { jobAccount, pricePeriodMs }: Pick<SkyhookConfig, "jobAccount" | "pricePeriodMs">,
) => {
  /** Of the tick, not of the call: a tick that is delivered late belongs to its own period. */
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

/** Finds new AI tasks, and publishes the end of each. */
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
 * Composes the six functions. Each member is a handler as AWS Lambda calls it: `(event, context)` to
 * what Lambda gets back. Nothing is opened, read or sent before a handler is called, so that a Skyhook
 * over other ports, such as a bus that records, costs nothing.
 *
 * | handler | called with | resolves to |
 * |---|---|---|
 * | `intake` | messages of the queue `requests` (or one event of a rule, as before an upgrade) | the messages that must come again; undefined for one event |
 * | `runCommands` | messages of the FIFO queue `commands` | the messages that must come again |
 * | `pollTasks` | a tick or wakes, which it does not read | nothing |
 * | `syncThresholds` | S3's "Object Created", or a tick | nothing |
 * | `snapshotPrices` | the `id` and `time` of a tick | nothing |
 * | `watchAiTasks` | a tick | nothing |
 *
 * A handler rejects when the call has to be made again: a port failed, the time was too short, no
 * message of a batch could be handled, or a job's account does not exist. It has logged the error
 * then. New work ends 3 s before `context.getRemainingTimeInMillis()` does.
 *
 * A function on AWS is one of the factories above, so that its bundle holds nothing of the others.
 * @param ports shared by all six; handlers that have an account in common share its permits and its key
 * @param config has no defaults: who composes the functions decides
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
