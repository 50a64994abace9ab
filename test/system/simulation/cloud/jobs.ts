import { objectCreatedEvent, scheduledEvent } from "../../../../lib/local/aws-events.ts";
import type { Cloud as Aws, FunctionSchedule } from "../../../../lib/local/cloud.ts";
import { periodMsOf } from "../../../../lib/platform/deployment.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { ConfigVersion } from "../plan/configs.ts";
import type { Surroundings } from "./machines.ts";

/** Shorter than deployed, so that a run has several checks for drift. */
const DRIFT_MS = 5 * 60_000;

const TICKS = {
  "sync-thresholds": { name: "threshold-drift", target: "sync-thresholds" },
  "snapshot-prices": { name: "price-snapshot", target: "snapshot-prices" },
  "watch-ai-tasks": { name: "ai-tasks", target: "watch-ai-tasks" },
} as const;

/** The schedules of a run: the poller's, and those of the jobs that the run has. */
export const schedulesOf = ({ plan, chance }: Surroundings): readonly FunctionSchedule[] => {
  const every = (
    tick: Pick<FunctionSchedule, "name" | "target">,
    periodMs: number,
    firstMs = periodMs,
  ): FunctionSchedule => ({ ...tick, periodMs, firstMs });
  const poller = { name: "poll-tasks", target: "poll-tasks" } as const;
  const firstConfigMs = Math.min(...plan.versions.map(({ afterMs }) => afterMs));
  const { before = 1, after = 1 } = plan.shards ?? {};
  const shards = Array.from({ length: Math.max(before, after) }, (_, shard) => shard);
  return [
    ...shards.map((shard) => ({ ...every(poller, periodMsOf("poll-tasks")), shard })),
    ...(plan.versions.length > 0
      ? [every(TICKS["sync-thresholds"], DRIFT_MS, Math.max(DRIFT_MS, firstConfigMs + 1))]
      : []),
    // Prices are read at once, so that slow answers cross each other.
    ...(chance.happens("prices", plan.provider.replyMs === undefined ? 0.2 : 0.8)
      ? [every(TICKS["snapshot-prices"], plan.pricesMs)]
      : []),
    ...(chance.happens("AI tasks", 0.2)
      ? [every(TICKS["watch-ai-tasks"], periodMsOf("ai-tasks"))]
      : []),
  ];
};

/** The scheduled jobs of a run. */
export const createJobs = ({ timeline, configs }: Surroundings, aws: Aws) => {
  const random = createSeededRandom(9);
  return {
    /** Runs a job now, as its schedule does. @returns whether it completed, after retries too */
    tick: (job: keyof typeof TICKS): Promise<boolean> => aws.tick(TICKS[job]),
    /** Writes the config version at its time; the event about it may be late or repeated. */
    write({ number, afterMs, text }: Pick<ConfigVersion, "number" | "afterMs" | "text">): void {
      timeline.after(afterMs, () => {
        configs.write(number, text);
        const sequencer = number.toString(16).padStart(4, "0").toUpperCase();
        const object = { key: "thresholds.yaml", version: String(number), sequencer };
        void aws.notify("sync-thresholds", objectCreatedEvent(object, timeline.now(), random));
      });
    },
    /** Invokes the sync once. @returns whether it completed */
    async syncNow(): Promise<boolean> {
      const event = scheduledEvent("threshold-drift", timeline.now(), random);
      return (await aws.invoke("sync-thresholds", event)).kind === "answered";
    },
  };
};
