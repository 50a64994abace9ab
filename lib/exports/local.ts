/**
 * `skyhook/local`: the whole system in this process, for tests: intake, queues, bus, ledger, poller and jobs, with the
 * embedded service as provider. State is in memory, and nothing is printed.
 */
import { type ConfigReading, configProblemText } from "../config/config-file.ts";
import type { Body, Params, Query } from "../contract/operation.ts";
import type { COMMANDED } from "../contract/operations.ts";
import { EVENT_SOURCE } from "../events/envelope.ts";
import { readReactions } from "../intake/config-files.ts";
import { openAutomation } from "../local/automation.ts";
import { createEventRecord } from "../local/event-record.ts";
import { createLocalAdmin } from "../local/local-admin.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";
import { createSystemClock, createSystemRandom } from "../platform/system.ts";
import { readAccountsFile } from "../provider/accounts-file.ts";
import { type DetailType, parseEvent, type SkyhookEvent } from "./events.ts";
import { type RunningService, type ServiceOptions, startService } from "./service.ts";

export type { Clock } from "../platform/ports/clock.ts";

/** A line of Skyhook's log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: { readonly [field: string]: unknown };
}

export interface LocalOptions {
  /** Text of an accounts file, YAML or JSON. Default: one account, which only Skyhook's AWS account may use. */
  readonly accounts?: string | undefined;
  /** Text of a reactions file, YAML or JSON. Default: none. */
  readonly reactions?: string | undefined;
  /** Path of a thresholds file, which is synced whenever it changes. Default: none. */
  readonly thresholdsFile?: string | undefined;
  /** Path of a watchlist of prices. Default: none. */
  readonly watchlistFile?: string | undefined;
  /** AI tasks to watch. Default: none. */
  readonly aiTasks?: "all" | "transcription" | "content-moderation" | undefined;
  /** Options of the embedded service: seed, faults, latency and others of `skyhook/service`. */
  readonly service?: Omit<ServiceOptions, "clock"> | undefined;
  /** `source` of the published events. Default: `skyhook`. */
  readonly eventSource?: string | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** Receives each line of the log. Default: lines are dropped. */
  readonly onLog?: ((line: LogLine) => void) | undefined;
}

/** An event to put on a bus. Other fields are filled in as EventBridge does. */
export interface NewEvent {
  readonly source: string;
  readonly "detail-type": string;
  readonly detail: object;
  /** AWS account that puts the event. Default: Skyhook's own. */
  readonly account?: string;
  readonly id?: string;
  readonly time?: string;
  readonly resources?: readonly string[];
  /** Default: Skyhook's own bus. */
  readonly bus?: "default";
}

type Commanded = (typeof COMMANDED)[number];

/** Command of an operation: the fields of `detail.data` in a `CommandRequested`. */
type CommandOf<O extends Commanded> = O extends Commanded
  ? {
      readonly operation: O["id"];
      readonly params: Params<O>;
      readonly query?: Query<O>;
      /** Account at the provider. Default: the only one. */
      readonly account?: string;
      /** End of all attempts, ISO 8601. */
      readonly deadline?: string;
      /** Ids of commands that have to succeed first. */
      readonly after?: readonly string[];
      /** Conditions on tags. */
      readonly guards?: readonly object[];
      /** Checks everything and sends no mutation. */
      readonly dryRun?: boolean;
    } & (undefined extends Body<O> ? { readonly body?: undefined } : { readonly body: Body<O> })
  : never;

export type Command = CommandOf<Commanded>;

export interface CommandOptions {
  /** Id of the command, unique for the sender. Default: a new one. */
  readonly commandId?: string | undefined;
}

export interface WaitOptions {
  /** Default: 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** An event of one of the types. */
type EventOf<T extends DetailType> = Extract<SkyhookEvent, { readonly "detail-type": T }>;

type End = "CommandSucceeded" | "CommandFailed" | "CommandCancelled" | "CommandRejected";

export interface LocalSkyhook {
  /** The embedded service: its `url` and `apiKey` for a client, its faults, clock, state and requests. */
  readonly service: Omit<RunningService, "stop">;
  /** Events that Skyhook has published so far, in order. */
  readonly events: readonly SkyhookEvent[];
  /** Puts a command on the queue, and resolves when it is stored. A request that breaks a rule is rejected later. */
  send(command: Command, options?: CommandOptions): Promise<{ readonly commandId: string }>;
  /**
   * Sends a command and waits for its end. The `detail-type` of the event names the end.
   * @throws Error when the command has not ended in time
   */
  run(command: Command, options?: CommandOptions & WaitOptions): Promise<EventOf<End>>;
  /**
   * Puts an event on a bus, like PutEvents of an AWS account.
   * @throws Error when the event is invalid, or its AWS account may not put events
   */
  putEvent(event: NewEvent): Promise<{ readonly id: string }>;
  /**
   * Waits for an event that Skyhook publishes; resolves at once for one that it has published before.
   * @param types detail-type, or several
   * @param options `where`: whether the caller waits for this event; default: for any of the types
   * @throws Error when no event came in time; it lists the types of all events
   */
  waitFor<T extends DetailType>(
    types: T | readonly T[],
    options?: WaitOptions & { readonly where?: ((event: EventOf<T>) => boolean) | undefined },
  ): Promise<EventOf<T>>;
  /**
   * Runs a scheduled job once, and resolves when it has ended. A missing or invalid file is no failure of the run:
   * its events, such as `ThresholdsRejected`, and the log say so.
   * @throws Error with the problem of a failed run, or when no option names the file of the job
   */
  runJob(name: "sync-thresholds" | "snapshot-prices" | "watch-ai-tasks"): Promise<void>;
  /** Ends everything: running attempts, timers, the service's port. Waits reject. A second call does nothing. */
  stop(): Promise<void>;
}

const DEFAULT_WAIT_MS = 30_000;
const JOB_OPTIONS = {
  "sync-thresholds": "thresholdsFile",
  "snapshot-prices": "watchlistFile",
  "watch-ai-tasks": "aiTasks",
} as const;
const ENDS: readonly End[] = [
  "CommandSucceeded",
  "CommandFailed",
  "CommandCancelled",
  "CommandRejected",
];

/** @throws Error listing every problem with its line */
const validFile = <T>(option: string, read: ConfigReading<T>): T => {
  if (read.kind === "valid") return read.value;
  throw new Error(`${option}: ${read.problems.map(configProblemText).join("; ")}`);
};

const logTo = (onLog: (line: LogLine) => void, bound: LogFields = {}): Log => {
  const at =
    (level: LogLine["level"]) =>
    (message: string, fields: LogFields = {}): void =>
      onLog({ level, message, fields: { ...bound, ...fields } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logTo(onLog, { ...bound, ...fields }),
  };
};

const automationOptions = (options: LocalOptions) => {
  const { eventSource = EVENT_SOURCE } = options;
  const accounts =
    options.accounts === undefined
      ? undefined
      : validFile("accounts", readAccountsFile(options.accounts));
  const reactions =
    options.reactions === undefined
      ? []
      : validFile("reactions", readReactions(options.reactions, { accounts, eventSource }));
  const { thresholdsFile, watchlistFile, aiTasks } = options;
  return {
    accounts,
    reactions,
    eventSource,
    jobs: { thresholdsFile, watchlistFile, aiTasks },
    environment: process.env,
    directory: undefined,
    clock: options.clock ?? createSystemClock(),
    random: createSystemRandom(),
    log: logTo(options.onLog ?? (() => {})),
  };
};

/** Opens the automation on a running service, and stops the service if that fails. */
const openOn = async (service: RunningService, options: ReturnType<typeof automationOptions>) => {
  const provider = { kind: "running", baseUrl: service.url, apiKey: service.apiKey } as const;
  try {
    return await openAutomation({ ...options, provider });
  } catch (error) {
    await service.stop();
    throw error;
  }
};

/** Whether an event is of one of the types, and wanted. */
const isOfType = <T extends DetailType>(
  types: readonly T[],
  where: (event: EventOf<T>) => boolean,
) => {
  const isNamed = (event: SkyhookEvent): event is EventOf<T> =>
    types.some((type) => type === event["detail-type"]);
  return (event: SkyhookEvent): event is EventOf<T> => isNamed(event) && where(event);
};

/**
 * Starts Skyhook and the embedded service, which listens on a free port of 127.0.0.1. Any number can run side by side.
 * @throws Error listing every mistake in `accounts` or `reactions`; the errors of `startService`
 */
export const startLocal = async (given: LocalOptions = {}): Promise<LocalSkyhook> => {
  const options = automationOptions(given);
  const { clock, random, eventSource } = options;
  const running = await startService({ ...given.service, clock });
  const automation = await openOn(running, options);
  const { stop: stopService, ...service } = running;
  const admin = createLocalAdmin(automation);
  const record = createEventRecord<SkyhookEvent>(clock);
  automation.bus.subscribeToOwn(async (event) =>
    record.add(parseEvent(event, { source: eventSource })),
  );
  automation.start();
  let stopped: Promise<void> | undefined;

  const send = async (command: Command, commandId: string): Promise<string> => {
    const id = random.uuid();
    await admin.send(JSON.stringify({ metadata: { id, commandId }, data: command }));
    return id;
  };

  return {
    service,
    events: record.events,
    async send(command, { commandId = random.uuid() } = {}) {
      await send(command, commandId);
      return { commandId };
    },
    async run(command, { commandId = random.uuid(), timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const requestId = await send(command, commandId);
      const isItsEnd = isOfType<End>(ENDS, ({ detail: { metadata } }) =>
        [metadata.commandId, metadata.causationId].some(
          (id) => id === commandId || id === requestId,
        ),
      );
      return record.waitFor(isItsEnd, `end of command ${commandId}`, timeoutMs);
    },
    async putEvent(event) {
      const { id } = await admin.put(JSON.stringify(event));
      return { id };
    },
    waitFor(types, { where = () => true, timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const list = typeof types === "string" ? [types] : types;
      return record.waitFor(isOfType(list, where), list.join(" or "), timeoutMs);
    },
    async runJob(name) {
      const run = await automation.runJob(name);
      if (run.kind === "not-configured")
        throw new Error(`${name} is not configured: set ${JOB_OPTIONS[name]} of startLocal`);
      if (run.kind === "failed") throw new Error(`${name}: ${run.problem}`);
    },
    stop() {
      record.close();
      stopped ??= automation.stop().finally(stopService);
      return stopped;
    },
  };
};
