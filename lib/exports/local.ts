/**
 * `skyhook/local`: the whole system in this process, for tests: intake, queues, bus, ledger, poller and jobs, with the
 * embedded service as provider. State is in memory, and nothing is printed.
 */
import { type ConfigReading, configProblemText } from "../config/config-file.ts";
import type { Body, Params, Query } from "../contract/operation.ts";
import type { COMMANDED } from "../contract/operations.ts";
import { readReactions } from "../intake/config-files.ts";
import { openAutomation } from "../local/automation.ts";
import { createEventRecord } from "../local/event-record.ts";
import { createLocalAdmin } from "../local/local-admin.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";
import { createSystemClock, createSystemRandom } from "../platform/system.ts";
import { readAccountsFile } from "../provider/accounts-file.ts";
import { readSeed } from "../service/seed.ts";

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
  /** State of the embedded service as JSON text, like `skyhook service --print-seed`. Default: the built-in state. */
  readonly seed?: string | undefined;
  /** Duration of the service's background tasks, ms. Default: 100. Skyhook reads a task 2 s after it began. */
  readonly taskDurationMs?: number | undefined;
  /** `source` of the published events. Default: `skyhook`. */
  readonly eventSource?: string | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** Receives each line of the log. Default: lines are dropped. */
  readonly onLog?: ((line: LogLine) => void) | undefined;
}

/** An event as EventBridge delivers it to a rule. */
export interface LocalEvent {
  readonly version: string;
  readonly id: string;
  readonly source: string;
  /** AWS account that put the event; `000000000000` is Skyhook's own. */
  readonly account: string;
  /** ISO 8601. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly "detail-type": string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field; `parseEvent` of skyhook/events gives types
  readonly detail: any;
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

export interface LocalSkyhook {
  /** The embedded service: address and API key for a client of your own. Built-in projects: see docs/service.md. */
  readonly provider: { readonly baseUrl: string; readonly apiKey: string };
  /** Events that Skyhook has published so far, in order. */
  readonly events: readonly LocalEvent[];
  /**
   * Puts a command on the queue, and resolves when it is stored.
   * @throws Error naming the wrong fields of a detail that is no `CommandRequested`. A request that breaks a rule of
   * its operation is accepted here, and ends with `CommandRejected`.
   */
  send(command: Command, options?: CommandOptions): Promise<{ readonly commandId: string }>;
  /**
   * Sends a command and waits for its end: `CommandSucceeded`, `CommandFailed`, `CommandCancelled` or
   * `CommandRejected`.
   * @throws Error as `send`, and when the command has not ended in time
   */
  run(command: Command, options?: CommandOptions & WaitOptions): Promise<LocalEvent>;
  /**
   * Puts an event on a bus, like PutEvents of an AWS account.
   * @throws Error when the event is invalid, or its AWS account may not put events
   */
  putEvent(event: NewEvent): Promise<{ readonly id: string }>;
  /**
   * Waits for an event that Skyhook publishes; resolves at once for one that it has published before.
   * @param wanted detail-type, or whether the caller waits for an event
   * @throws Error when no event came in time; it lists the types of all events
   */
  waitFor(
    wanted: string | ((event: LocalEvent) => boolean),
    options?: WaitOptions,
  ): Promise<LocalEvent>;
  /**
   * Runs a scheduled job once, and resolves when it has ended.
   * @throws Error with the problem of a failed run, or for a job without its file
   */
  runJob(name: "sync-thresholds" | "snapshot-prices" | "watch-ai-tasks"): Promise<void>;
  /** Ends everything: running attempts, timers, the service's port. Waits reject. */
  stop(): Promise<void>;
}

const DEFAULT_EVENT_SOURCE = "skyhook";
const DEFAULT_TASK_MS = 100;
const DEFAULT_WAIT_MS = 30_000;
const ENDS = ["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"];

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
  const { eventSource = DEFAULT_EVENT_SOURCE, taskDurationMs = DEFAULT_TASK_MS } = options;
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
    provider: {
      kind: "embedded",
      port: 0,
      taskDurationMs,
      seed: options.seed === undefined ? undefined : readSeed(options.seed),
    },
    environment: process.env,
    directory: undefined,
    clock: options.clock ?? createSystemClock(),
    random: createSystemRandom(),
    log: logTo(options.onLog ?? (() => {})),
  } as const;
};

/**
 * Starts Skyhook and the embedded service, which listens on a free port of 127.0.0.1. Any number can run side by side.
 * @throws Error listing every mistake in `accounts` or `reactions`; SeedError for a wrong `seed`
 */
export const startLocal = async (given: LocalOptions = {}): Promise<LocalSkyhook> => {
  const options = automationOptions(given);
  const { clock, random } = options;
  const automation = await openAutomation(options);
  const { provider } = automation;
  const admin = createLocalAdmin(automation);
  const record = createEventRecord<LocalEvent>(clock, (event) => event["detail-type"]);
  automation.bus.subscribeToOwn(async (event) => record.add(event));
  automation.start();

  const send = async (command: Command, commandId: string) => {
    const id = random.uuid();
    const metadata = { id, commandId };
    await admin.send?.(JSON.stringify({ metadata, data: command }));
    return id;
  };

  return {
    provider: { baseUrl: provider.baseUrl, apiKey: await provider.apiKey() },
    events: record.events,
    async send(command, { commandId = random.uuid() } = {}) {
      await send(command, commandId);
      return { commandId };
    },
    async run(command, { commandId = random.uuid(), timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const requestId = await send(command, commandId);
      const isEnd = ({ "detail-type": type, detail }: LocalEvent): boolean =>
        ENDS.includes(type) &&
        (detail.metadata.commandId === commandId || detail.metadata.causationId === requestId);
      return record.waitFor(isEnd, `end of command ${commandId}`, timeoutMs);
    },
    async putEvent(event) {
      const put = await admin.put?.(JSON.stringify(event));
      return { id: put?.id ?? "" };
    },
    waitFor(wanted, { timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const isWanted =
        typeof wanted === "string"
          ? (event: LocalEvent) => event["detail-type"] === wanted
          : wanted;
      const what = typeof wanted === "string" ? wanted : "wanted event";
      return record.waitFor(isWanted, what, timeoutMs);
    },
    async runJob(name) {
      const run = await automation.runJob(name);
      if (run.kind === "not-configured") throw new Error(`${name} is not configured`);
      if (run.kind === "failed") throw new Error(`${name}: ${run.problem}`);
    },
    async stop() {
      record.close();
      await automation.stop();
    },
  };
};
