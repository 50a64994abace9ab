import type { Context } from "aws-lambda";
import { objectCreatedEvent, scheduledEvent } from "../../../../lib/local/aws-events.ts";
import { periodMsOf, timeoutMsOf } from "../../../../lib/platform/deployment.ts";
import type { Skyhook } from "../../../../lib/skyhook.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { ConfigVersion } from "../plan/configs.ts";
import { createLambda } from "./lambda.ts";
import type { Machine, Surroundings } from "./machines.ts";

/** Shorter than deployed, so that a run has several checks for drift. */
const DRIFT_MS = 5 * 60_000;
/** Lambda tries an asynchronous call three times. */
const PAUSES_BEFORE_RETRY_MS = [60_000, 120_000];

type Job = (machine: Machine, context: Context) => Promise<void>;

type JobName = "sync-thresholds" | "snapshot-prices" | "watch-ai-tasks";

/** The scheduled jobs of a run, with their triggers. */
export interface Jobs {
  /** Runs a job now, as its schedule does. @returns whether it completed at once */
  tick(name: JobName): Promise<boolean>;
  start(): void;
  /** Writes the config version at its time; the event about it may be late or repeated. */
  write(version: ConfigVersion): void;
  /** Runs one sync, as the schedule does. @returns whether it completed */
  syncNow(): Promise<boolean>;
  /** Number of runs that are under way or will be retried. */
  pending(): number;
}

export const createJobs = (around: Surroundings): Jobs => {
  const { timeline, chance, faults, configs } = around;
  const random = createSeededRandom(9);
  const sync = createLambda("sync-thresholds", timeoutMsOf("sync-thresholds"), around);
  const prices = createLambda("snapshot-prices", timeoutMsOf("snapshot-prices"), around);
  const aiTasks = createLambda("watch-ai-tasks", timeoutMsOf("watch-ai-tasks"), around);
  let pending = 0;

  const run = async (lambda: typeof sync, job: Job, attempt = 0): Promise<boolean> => {
    pending += 1;
    const ending = await lambda.invoke(job);
    pending -= 1;
    if (ending.kind === "answered") return true;
    const pauseMs = PAUSES_BEFORE_RETRY_MS[attempt];
    if (pauseMs !== undefined) {
      pending += 1;
      timeline.after(pauseMs, () => {
        pending -= 1;
        void run(lambda, job, attempt + 1);
      });
    }
    return false;
  };

  const syncOf =
    (event: Parameters<Skyhook["syncThresholds"]>[0]): Job =>
    ({ skyhook }, context) =>
      skyhook.syncThresholds(event, context);

  const scheduled = (name: JobName) => scheduledEvent(name, timeline.now(), random);

  const tick = (name: JobName): Promise<boolean> => {
    const event = scheduled(name);
    if (name === "sync-thresholds") return run(sync, syncOf(event));
    if (name === "snapshot-prices")
      return run(prices, ({ skyhook }, context) => skyhook.snapshotPrices(event, context));
    return run(aiTasks, ({ skyhook }, context) => skyhook.watchAiTasks(event, context));
  };

  const every = (periodMs: number, work: () => void): void => {
    timeline.after(periodMs, () => {
      work();
      every(periodMs, work);
    });
  };

  return {
    pending: () => pending,
    start() {
      every(DRIFT_MS, () => configs.isUsed() && void tick("sync-thresholds"));
      if (chance.happens("prices", 0.2))
        every(around.plan.pricesMs, () => void tick("snapshot-prices"));
      if (chance.happens("AI tasks", 0.2))
        every(periodMsOf("ai-tasks"), () => void tick("watch-ai-tasks"));
    },
    write({ number, afterMs, text }) {
      timeline.after(afterMs, () => {
        configs.write(number, text);
        const sequencer = number.toString(16).padStart(4, "0").toUpperCase();
        const object = { key: "thresholds.yaml", version: String(number), sequencer };
        const event = objectCreatedEvent(object, timeline.now(), random);
        const { place, kind } = faults.visit("object event", ["event late", "event twice"]);
        const lateMs = kind === "event late" ? chance.between(`late ${place}`, 0, 180_000) : 0;
        timeline.after(lateMs, () => void run(sync, syncOf(event)));
        if (kind === "event twice") timeline.after(60_000, () => void run(sync, syncOf(event)));
      });
    },
    tick,
    syncNow: () => run(sync, syncOf(scheduled("sync-thresholds")), PAUSES_BEFORE_RETRY_MS.length),
  };
};
