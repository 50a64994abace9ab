import type { JobName, JobRun } from "../admin/job-run.ts";
import { timeoutMsOf } from "../platform/deployment.ts";
import type { InvocationLog } from "../platform/lambda/invocation.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import { createSkyhook, type Skyhook, type SkyhookConfig, type SkyhookPorts } from "../skyhook.ts";
import { lambdaContext, objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
import type { Cloud, FunctionSchedule } from "./cloud.ts";
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

/** The schedules of the configured jobs. A job with a file also runs when the file changes, and at the start. */
export const schedulesOf = (choice: JobChoice, times: JobTimes): readonly FunctionSchedule[] => {
  const drift = { name: "threshold-drift", target: "sync-thresholds" } as const;
  const prices = { name: "price-snapshot", target: "snapshot-prices" } as const;
  const aiTasks = { name: "ai-tasks", target: "watch-ai-tasks" } as const;
  return [
    ...(choice.thresholdsFile === undefined
      ? []
      : [{ ...drift, periodMs: times.driftMs, firstMs: times.driftMs }]),
    ...(choice.watchlistFile === undefined
      ? []
      : [{ ...prices, periodMs: times.pricesMs, firstMs: times.pricesMs }]),
    ...(choice.aiTasks === undefined
      ? []
      : [{ ...aiTasks, periodMs: times.aiTasksMs, firstMs: 0 }]),
  ];
};

export interface ScheduledJobsOptions {
  readonly ports: SkyhookPorts;
  readonly config: SkyhookConfig;
  readonly choice: JobChoice;
  /** Started, with the schedules of `schedulesOf`. */
  readonly cloud: Cloud;
}

export interface ScheduledJobs {
  /** Runs a job once, as its schedule does. Resolves when it has ended. */
  run(name: JobName): Promise<JobRun>;
  /** Takes a snapshot as the schedule does; does nothing without a watchlist. */
  snapshotPrices(): Promise<void>;
  /** Ends the watch over the files. Resolves when all jobs by it and by operators have ended. */
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

/** Starts what schedules do not start: jobs by changes of their files, as S3's events do, and by operators. */
export const startScheduledJobs = (options: ScheduledJobsOptions): ScheduledJobs => {
  const { ports, config, choice, cloud } = options;
  const { clock, random, log, thresholds, watchlist } = ports;
  const stopping = new AbortController();
  const { signal } = stopping;
  const contextOf = (name: JobName) => lambdaContext(name, timeoutMsOf(name), { clock, random });
  const tick = (schedule: string) => scheduledEvent(schedule, clock.now(), random);
  /** With milliseconds, which a real schedule lacks: a period can be short enough that each run by hand counts. */
  const priceTick = () => ({
    ...tick("price-snapshot"),
    time: new Date(clock.now()).toISOString(),
  });

  const watches: Promise<void>[] = [];
  /** Runs that an operator started. */
  const runs = new Set<Promise<unknown>>();
  const jobs = new Map<JobName, (skyhook: Skyhook) => Promise<void>>();

  const watchThresholds = (path: string): void => {
    jobs.set("sync-thresholds", ({ syncThresholds }) =>
      syncThresholds(tick("threshold-drift"), contextOf("sync-thresholds")),
    );
    const onVersion = async (version = "none"): Promise<void> => {
      // One watcher reports versions in order, so no sequencer is needed, and a clock could give a wrong one.
      const object = { key: path, version, sequencer: "" };
      const event = objectCreatedEvent(object, clock.now(), random);
      const ending = await cloud.invoke("sync-thresholds", event);
      if (ending.kind === "failed") throw ending.error;
    };
    watches.push(watchFile({ source: thresholds, clock, log, signal, onVersion }));
  };

  // The handler logs an error. No retry: the same list would fail again, and the next version starts another run.
  const snapshot = async (): Promise<void> => {
    await cloud.invoke("snapshot-prices", priceTick());
  };

  const watchPrices = (path: string): void => {
    jobs.set("snapshot-prices", ({ snapshotPrices }) =>
      snapshotPrices(priceTick(), contextOf("snapshot-prices")),
    );
    const onVersion = async (version: string | undefined): Promise<void> => {
      if (version === undefined) log.warn("watchlist file not found", { source: path });
      await snapshot();
    };
    watches.push(watchFile({ source: watchlist, clock, log, signal, onVersion }));
  };

  const runOnce = async (job: (skyhook: Skyhook) => Promise<void>): Promise<JobRun> => {
    const published: BusEntry[] = [];
    const notes: string[] = [];
    const events = () =>
      published.map(({ detailType, detail }) => ({ detailType, data: detail.data }));
    try {
      const shown = { bus: recording(ports.bus, published), log: noting(log, notes) };
      await job(createSkyhook({ ...ports, ...shown }, config));
      return { kind: "ended", events: events(), notes };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { kind: "failed", problem, events: events() };
    }
  };

  if (choice.thresholdsFile !== undefined) watchThresholds(choice.thresholdsFile);
  if (choice.watchlistFile !== undefined) watchPrices(choice.watchlistFile);
  if (choice.aiTasks !== undefined)
    jobs.set("watch-ai-tasks", ({ watchAiTasks }) =>
      watchAiTasks(tick("ai-tasks"), contextOf("watch-ai-tasks")),
    );

  return {
    async run(name) {
      const job = jobs.get(name);
      if (!job) return { kind: "not-configured" };
      const ended = runOnce(job);
      runs.add(ended);
      return ended.finally(() => runs.delete(ended));
    },
    snapshotPrices: choice.watchlistFile === undefined ? async () => {} : snapshot,
    async stop() {
      stopping.abort();
      await Promise.all([...watches, ...runs]);
    },
  };
};
