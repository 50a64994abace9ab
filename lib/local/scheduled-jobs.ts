import { timeoutMsOf } from "../platform/deployment.ts";
import type { InvocationLog } from "../platform/lambda/invocation.ts";
import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import { createSkyhook, type Skyhook, type SkyhookConfig, type SkyhookPorts } from "../skyhook.ts";
import { lambdaContext, objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
import { quietAfter } from "./closing.ts";
import { watchFile } from "./file-watch.ts";
import type { JobName, JobRun } from "./job-run.ts";

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

export interface ScheduledJobsOptions {
  readonly ports: SkyhookPorts;
  readonly config: SkyhookConfig;
  readonly choice: JobChoice;
  readonly times: JobTimes;
}

export interface ScheduledJobs {
  /** Runs a job as its schedule does; resolves when it has ended. */
  run(name: JobName): Promise<JobRun>;
  /** Calls the snapshot as its schedule does; without a watchlist nothing happens. */
  snapshotPrices(): Promise<void>;
  /** Lets running jobs end; resolves when they have. */
  stop(): Promise<void>;
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

/** Does for the scheduled jobs what S3's events and the scheduler do in the cloud. */
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
  /** Runs that a person has asked for. */
  const runs = new Set<Promise<unknown>>();
  const jobs = new Map<JobName, (skyhook: Skyhook) => Promise<void>>();
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
    const checkDrift = ({ syncThresholds }: Skyhook): Promise<void> =>
      syncThresholds(tick("threshold-drift"), contextOf("sync-thresholds"));
    jobs.set("sync-thresholds", checkDrift);
    const onVersion = (version = "none"): Promise<void> => {
      // One writer, one watcher, in order: a sequencer made of the clock could only go wrong with it.
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
    const snapshot = ({ snapshotPrices }: Skyhook): Promise<void> =>
      snapshotPrices(tick("price-snapshot"), contextOf("snapshot-prices"));
    jobs.set("snapshot-prices", snapshot);
    const run = (): Promise<void> => snapshot(skyhook);
    const onVersion = async (version: string | undefined): Promise<void> => {
      if (version === undefined) log.warn("there is no such watchlist", { source: path });
      // The same list again would fail the same way, and with the next version it is run again.
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
