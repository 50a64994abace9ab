import type { ScheduledEvent } from "aws-lambda";
import { createHandler as createSnapshotPrices } from "../../functions/snapshot-prices/handler.ts";
import { createHandler as createSyncThresholds } from "../../functions/sync-thresholds/handler.ts";
import { createHandler as createWatchAiTasks } from "../../functions/watch-ai-tasks/handler.ts";
import type { SyncDeps } from "../jobs/thresholds/sync-request.ts";
import { timeoutMsOf } from "../platform/deployment.ts";
import type { InvocationLog } from "../platform/lambda/invocation-log.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import type { Account } from "../provider/accounts.ts";
import { objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
import { quietAfter } from "./closing.ts";
import { createFileConfigSource } from "./file-config-source.ts";
import { createSteadySource, watchFile } from "./file-watch.ts";
import type { JobName, JobRun } from "./job-run.ts";
import { lambdaContext } from "./lambda-context.ts";

/** Which jobs a local run does. */
export interface JobChoice {
  readonly thresholdsFile?: string | undefined;
  readonly watchlistFile?: string | undefined;
  /** Which AI tasks are watched; absent: none. */
  readonly aiTasks?: "all" | "transcription" | "content-moderation" | undefined;
}

/** How often the schedules call. */
export interface JobTimes {
  readonly driftMs: number;
  readonly pricesMs: number;
  /** Two snapshots within this time are one run. */
  readonly pricePeriodMs: number;
  readonly aiTasksMs: number;
}

export interface StandingJobsOptions {
  readonly deps: SyncDeps & { readonly log: InvocationLog };
  readonly account: () => Account;
  readonly choice: JobChoice;
  readonly times: JobTimes;
}

export interface StandingJobs {
  /** Runs a job as its schedule does; resolves when it has ended. */
  run(name: JobName): Promise<JobRun>;
  /** Calls the snapshot as its schedule does; without a watchlist nothing happens. */
  snapshotPrices(): Promise<void>;
  /** Lets running jobs end; resolves when they have. */
  stop(): Promise<void>;
}

/** The ports by which a run of a job shows what it does. */
interface Shown {
  readonly bus: EventBus;
  readonly log: InvocationLog;
}

/** A bus that keeps what is published through it. */
const recording = (bus: EventBus, published: BusEntry[]): EventBus => ({
  publish(entries) {
    published.push(...entries);
    return bus.publish(entries);
  },
});

/** A log that keeps the messages by which a job says that it had nothing to do. */
const noting = (log: InvocationLog, notes: string[]): InvocationLog => ({
  ...log,
  info(message, fields) {
    notes.push(message);
    log.info(message, fields);
  },
  with: (fields) => noting(Object.assign(log.with(fields), { bind: log.bind }), notes),
});

/** Does for the standing jobs what S3's events and the scheduler do in the cloud. */
export const startStandingJobs = (options: StandingJobsOptions): StandingJobs => {
  const { account, choice, times } = options;
  const { clock, random } = options.deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = quietAfter(options.deps.log, signal);
  const deps = { ...options.deps, log };
  const contextOf = (name: JobName) => lambdaContext(name, timeoutMsOf(name), { clock, random });
  const tick = (name: string): ScheduledEvent => ({
    ...scheduledEvent(name, clock.now(), random),
    detail: {},
  });

  const loops: Promise<void>[] = [];
  /** Runs that a person has asked for. */
  const runs = new Set<Promise<unknown>>();
  const jobs = new Map<JobName, (shown: Shown) => Promise<void>>();
  /** The handler's own boundary has logged what went wrong; the next run goes on. */
  const quietly = (run: () => Promise<unknown>): Promise<void> =>
    run().then(
      () => {},
      () => {},
    );
  const every = async (periodMs: number, run: () => Promise<unknown>, firstMs = 0) => {
    let nextAt = clock.now() + firstMs;
    while (!signal.aborted) {
      await clock.sleep(nextAt - clock.now(), signal);
      if (signal.aborted) return;
      await quietly(run);
      // By the clock, or every run would begin a little later than the last.
      nextAt = Math.max(nextAt + periodMs, clock.now());
    }
  };

  const startThresholds = (path: string): void => {
    const source = createSteadySource(createFileConfigSource(path), clock);
    const syncWith = (shown: Shown) =>
      createSyncThresholds(async () => ({ ...deps, ...shown, account: account(), source }));
    const sync = syncWith(deps);
    const checkDrift = (shown: Shown): Promise<void> =>
      syncWith(shown)(tick("threshold-drift"), contextOf("sync-thresholds"));
    jobs.set("sync-thresholds", checkDrift);
    const onVersion = async (version = "none"): Promise<void> => {
      // One writer, one watcher, in order: a sequencer made of the clock could only go wrong with it.
      const object = { key: path, version, sequencer: "" };
      await sync(objectCreatedEvent(object, clock.now(), random), contextOf("sync-thresholds"));
    };
    loops.push(
      watchFile({ source, clock, log, signal, onVersion }),
      every(times.driftMs, () => checkDrift(deps), times.driftMs),
    );
  };

  const startPrices = (path: string): (() => Promise<void>) => {
    const source = createSteadySource(createFileConfigSource(path), clock);
    const { pricePeriodMs: periodMs } = times;
    const snapshot = (shown: Shown): Promise<void> => {
      const jobDeps = async () => ({ ...deps, ...shown, account: account(), source, periodMs });
      return createSnapshotPrices(jobDeps)(tick("price-snapshot"), contextOf("snapshot-prices"));
    };
    jobs.set("snapshot-prices", snapshot);
    const run = (): Promise<void> => snapshot(deps);
    const onVersion = async (version: string | undefined): Promise<void> => {
      if (version === undefined) log.warn("there is no such watchlist", { source: path });
      // The same list again would fail the same way, and with the next version it is run again.
      await quietly(run);
    };
    loops.push(
      watchFile({ source, clock, log, signal, onVersion }),
      every(times.pricesMs, run, times.pricesMs),
    );
    return () => quietly(run);
  };

  const startAiTasks = (choiceOf: NonNullable<JobChoice["aiTasks"]>): void => {
    const taskName = choiceOf === "all" ? undefined : choiceOf;
    const watch = (shown: Shown): Promise<void> => {
      const jobDeps = async () => ({ ...deps, ...shown, account: account(), taskName });
      return createWatchAiTasks(jobDeps)(tick("ai-tasks"), contextOf("watch-ai-tasks"));
    };
    jobs.set("watch-ai-tasks", watch);
    loops.push(every(times.aiTasksMs, () => watch(deps)));
  };

  const runOnce = async (job: (shown: Shown) => Promise<void>): Promise<JobRun> => {
    const published: BusEntry[] = [];
    const notes: string[] = [];
    const events = () =>
      published.map(({ detailType, detail }) => ({ detailType, data: detail.data }));
    try {
      await job({ bus: recording(deps.bus, published), log: noting(log, notes) });
      return { kind: "ended", events: events(), notes };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { kind: "failed", problem, events: events() };
    }
  };

  if (choice.thresholdsFile !== undefined) startThresholds(choice.thresholdsFile);
  const snapshotPrices =
    choice.watchlistFile === undefined ? async () => {} : startPrices(choice.watchlistFile);
  if (choice.aiTasks !== undefined) startAiTasks(choice.aiTasks);

  return {
    async run(name) {
      const job = jobs.get(name);
      if (!job) return { kind: "not-configured" };
      const ended = runOnce(job);
      runs.add(ended);
      return ended.finally(() => runs.delete(ended));
    },
    snapshotPrices,
    async stop() {
      stopping.abort();
      await Promise.all([...loops, ...runs]);
    },
  };
};
