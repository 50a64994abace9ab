import type { ScheduledEvent } from "aws-lambda";
import { createHandler as createSnapshotPrices } from "../../functions/snapshot-prices/handler.ts";
import { createHandler as createSyncThresholds } from "../../functions/sync-thresholds/handler.ts";
import { createHandler as createWatchAiTasks } from "../../functions/watch-ai-tasks/handler.ts";
import type { Account } from "../accounts/account.ts";
import type { InvocationLog } from "../lambda/invocation-log.ts";
import type { SyncDeps } from "../thresholds/sync-request.ts";
import { objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
import { quietAfter } from "./closing.ts";
import { createFileConfigSource } from "./file-config-source.ts";
import { createSteadySource, watchFile } from "./file-watch.ts";
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
  /** Calls the snapshot as its schedule does; without a watchlist nothing happens. */
  snapshotPrices(): Promise<void>;
  /** Lets running jobs end; resolves when they have. */
  stop(): Promise<void>;
}

/** As in serverless.yml. */
const TIMEOUT_MS = 300_000;

/** Does for the standing jobs what S3's events and the scheduler do in the cloud. */
export const startStandingJobs = (options: StandingJobsOptions): StandingJobs => {
  const { account, choice, times } = options;
  const { clock, random } = options.deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = quietAfter(options.deps.log, signal);
  const deps = { ...options.deps, log };
  const contextOf = (name: string) => lambdaContext(name, TIMEOUT_MS, { clock, random });
  const tick = (name: string): ScheduledEvent => ({
    ...scheduledEvent(name, clock.now(), random),
    detail: {},
  });

  const loops: Promise<void>[] = [];
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
    const sync = createSyncThresholds(async () => ({ ...deps, account: account(), source }));
    const onVersion = async (version = "none"): Promise<void> => {
      // One writer, one watcher, in order: a sequencer made of the clock could only go wrong with it.
      const object = { key: path, version, sequencer: "" };
      await sync(objectCreatedEvent(object, clock.now(), random), contextOf("sync-thresholds"));
    };
    loops.push(
      watchFile({ source, clock, log, signal, onVersion }),
      every(
        times.driftMs,
        async () => sync(tick("threshold-drift"), contextOf("sync-thresholds")),
        times.driftMs,
      ),
    );
  };

  const startPrices = (path: string): (() => Promise<void>) => {
    const source = createSteadySource(createFileConfigSource(path), clock);
    const { pricePeriodMs: periodMs } = times;
    const snapshot = createSnapshotPrices(async () => ({
      ...deps,
      account: account(),
      source,
      periodMs,
    }));
    const run = async (): Promise<void> =>
      snapshot(tick("price-snapshot"), contextOf("snapshot-prices"));
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
    const watch = createWatchAiTasks(async () => ({ ...deps, account: account(), taskName }));
    loops.push(
      every(times.aiTasksMs, async () => watch(tick("ai-tasks"), contextOf("watch-ai-tasks"))),
    );
  };

  if (choice.thresholdsFile !== undefined) startThresholds(choice.thresholdsFile);
  const snapshotPrices =
    choice.watchlistFile === undefined ? async () => {} : startPrices(choice.watchlistFile);
  if (choice.aiTasks !== undefined) startAiTasks(choice.aiTasks);

  return {
    snapshotPrices,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
};
