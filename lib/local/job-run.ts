import * as z from "zod";

/** The scheduled jobs, by the names of their functions. */
export const JOB_NAMES = ["sync-thresholds", "snapshot-prices", "watch-ai-tasks"] as const;

export type JobName = (typeof JOB_NAMES)[number];

/** What a job has published in its run. */
const eventsSchema = z.array(z.object({ detailType: z.string(), data: z.unknown() }));

/** How a run of a job ended that a person has asked for. */
export const jobRunSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("not-configured") }),
  /** `notes`: why a job that published nothing had nothing to do. */
  z.object({ kind: z.literal("ended"), events: eventsSchema, notes: z.array(z.string()) }),
  z.object({ kind: z.literal("failed"), problem: z.string(), events: eventsSchema }),
]);

export type JobRun = z.output<typeof jobRunSchema>;
