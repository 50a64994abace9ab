import type { JobName, JobRun } from "../admin/job-run.ts";
import { timeoutMsOf } from "../platform/deployment.ts";
import type { InvocationLog } from "../platform/lambda/invocation.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import { createSkyhook, type Skyhook, type SkyhookConfig, type SkyhookPorts } from "../skyhook.ts";
import { lambdaContext, objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
import { quietAfter } from "./closing.ts";
import { watchFile } from "./file-watch.ts";

/** The configured jobs of a local run. */
export interface JobChoice {
  readonly thresholdsFile?: string | undefined;
  readonly watchlistFile?: string | undefined;
  /** AI tasks to watch; absent: none. */
  readonly aiTasks?: "all" | "transcription" | "content-moderation" | undefined;
}

/** Periods of the schedules. */
export interface JobTimes {
  readonly driftMs: number;
  readonly pricesMs: number;
  /** Two snapshots in one such period count as one run. */
  readonly pricePeriodMs: number;
  readonly aiTasksMs: number;
}

export interface ScheduledJobsOptions {
  readonly ports: SkyhookPorts;
  readonly config: SkyhookConfig;
  readonly choice: JobChoice;
  readonly times: JobTimes;
}

export interface ScheduledJobs {
  /** Runs a job once, as its schedule does. Resolves when it has ended. */
  run(name: JobName): Promise<JobRun>;
  /** Takes a snapshot as the schedule does; does nothing without a watchlist. */
  snapshotPrices(): Promise<void>;
  /** Ends the schedules. Resolves when all running jobs have ended. */
  stop(): Promise<void>;
}

/** A bus that also collects its published events. */
const recording = (bus: EventBus, published: BusEntry[]): EventBus => ({
  publish(entries) {
    published.push(...entries);
    return bus.publish(entries);
  },
});

/** A log that also collects info messages, with which a job reports that it had nothing to do. */
const noting = (log: InvocationLog, notes: string[]): InvocationLog => ({
  ...log,
  info(message, fields) {
    notes.push(message);
    log.info(message, fields);
  },
  with: (fields) => noting(Object.assign(log.with(fields), { bind: log.bind }), notes),
});

/** Starts the scheduled jobs: replaces S3's events and the scheduler of the cloud. */
export const startScheduledJobs = (options: ScheduledJobsOptions): ScheduledJobs => {
  const { config, choice, times } = options;
  const { clock, random, bus, thresholds, watchlist } = options.ports;
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = quietAfter(options.ports.log, signal);
  const ports = { ...options.ports, log };
  const skyhook = createSkyhook(ports, config);
  const contextOf = (name: JobName) => lambdaContext(name, timeoutMsOf(name), { clock, random });
  const tick = (schedule: string) => scheduledEvent(schedule, clock.now(), random);

  const loops: Promise<void>[] = [];
  /** Runs that an operator started. */
  const runs = new Set<Promise<unknown>>();
  const jobs = new Map<JobName, (skyhook: Skyhook) => Promise<void>>();
  /** Ignores errors: the handler has logged them, and the next run continues. */
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
      // Counted from the planned time, so that the schedule does not drift.
      nextAt = Math.max(nextAt + periodMs, clock.now());
    }
  };

  const startThresholds = (path: string): void => {
    const checkDrift = ({ syncThresholds }: Skyhook): Promise<void> =>
      syncThresholds(tick("threshold-drift"), contextOf("sync-thresholds"));
    jobs.set("sync-thresholds", checkDrift);
    const onVersion = (version = "none"): Promise<void> => {
      // One watcher reports versions in order, so no sequencer is needed, and a clock could give a wrong one.
      const object = { key: path, version, sequencer: "" };
      const event = objectCreatedEvent(object, clock.now(), random);
      return skyhook.syncThresholds(event, contextOf("sync-thresholds"));
    };
    loops.push(
      watchFile({ source: thresholds, clock, log, signal, onVersion }),
      every(times.driftMs, () => checkDrift(skyhook), times.driftMs),
    );
  };

  const startPrices = (path: string): (() => Promise<void>) => {
    const snapshot = ({ snapshotPrices }: Skyhook): Promise<void> => {
      // With milliseconds, which a real schedule lacks: a period can be short enough that each run by hand counts.
      const time = new Date(clock.now()).toISOString();
      return snapshotPrices({ ...tick("price-snapshot"), time }, contextOf("snapshot-prices"));
    };
    jobs.set("snapshot-prices", snapshot);
    const run = (): Promise<void> => snapshot(skyhook);
    const onVersion = async (version: string | undefined): Promise<void> => {
      if (version === undefined) log.warn("watchlist file not found", { source: path });
      // No retry: the same list would fail again, and the next version starts another run.
      await quietly(run);
    };
    loops.push(
      watchFile({ source: watchlist, clock, log, signal, onVersion }),
      every(times.pricesMs, run, times.pricesMs),
    );
    return () => quietly(run);
  };

  const startAiTasks = (): void => {
    const watch = ({ watchAiTasks }: Skyhook): Promise<void> =>
      watchAiTasks(tick("ai-tasks"), contextOf("watch-ai-tasks"));
    jobs.set("watch-ai-tasks", watch);
    loops.push(every(times.aiTasksMs, () => watch(skyhook)));
  };

  const runOnce = async (job: (skyhook: Skyhook) => Promise<void>): Promise<JobRun> => {
    const published: BusEntry[] = [];
    const notes: string[] = [];
    const events = () =>
      published.map(({ detailType, detail }) => ({ detailType, data: detail.data }));
    try {
      const shown = { bus: recording(bus, published), log: noting(log, notes) };
      await job(createSkyhook({ ...ports, ...shown }, config));
      return { kind: "ended", events: events(), notes };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { kind: "failed", problem, events: events() };
    }
  };

  if (choice.thresholdsFile !== undefined) startThresholds(choice.thresholdsFile);
  const snapshotPrices =
    choice.watchlistFile === undefined ? async () => {} : startPrices(choice.watchlistFile);
  if (choice.aiTasks !== undefined) startAiTasks();

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
