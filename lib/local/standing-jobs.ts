import type { ScheduledEvent } from "aws-lambda";
import { createHandler as createSnapshotPrices } from "../../functions/snapshot-prices/handler.ts";
import { createHandler as createSyncThresholds } from "../../functions/sync-thresholds/handler.ts";
import { createHandler as createWatchAiTasks } from "../../functions/watch-ai-tasks/handler.ts";
import type { Account } from "../accounts/account.ts";
import type { InvocationLog } from "../lambda/invocation-log.ts";
import type { JobDeps } from "../ports/job.ts";
import { objectCreatedEvent, scheduledEvent } from "./aws-events.ts";
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
  readonly deps: JobDeps & { readonly log: InvocationLog };
  readonly account: Account;
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
  const { deps, account, choice, times } = options;
  const { clock, random, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const contextOf = (name: string) => lambdaContext(name, TIMEOUT_MS, { clock, random });
  const tick = (name: string): ScheduledEvent => ({
    ...scheduledEvent(name, clock.now(), random),
    detail: {},
  });

  const loops: Promise<void>[] = [];
  const every = async (periodMs: number, run: () => Promise<unknown>, firstMs = 0) => {
    await clock.sleep(firstMs, signal);
    while (!signal.aborted) {
      await run().catch((error: unknown) => {
        log.warn("job not finished, the next run goes on", {
          errorMessage: error instanceof Error ? error.message : String(error),
        });
      });
      await clock.sleep(periodMs, signal);
    }
  };

  const startThresholds = (path: string): void => {
    const source = createSteadySource(createFileConfigSource(path), clock);
    const sync = createSyncThresholds(async () => ({ ...deps, account, source }));
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
    const snapshot = createSnapshotPrices(async () => ({ ...deps, account, source, periodMs }));
    const run = async (): Promise<void> =>
      snapshot(tick("price-snapshot"), contextOf("snapshot-prices"));
    loops.push(every(times.pricesMs, run));
    return run;
  };

  const startAiTasks = (choiceOf: NonNullable<JobChoice["aiTasks"]>): void => {
    const taskName = choiceOf === "all" ? undefined : choiceOf;
    const watch = createWatchAiTasks(async () => ({ ...deps, account, taskName }));
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
