import * as z from "zod";

/** Scheduled jobs, by the names of their functions. */
export const JOB_NAMES = ["sync-thresholds", "snapshot-prices", "watch-ai-tasks"] as const;

export type JobName = (typeof JOB_NAMES)[number];

/** Events that a job published in its run. */
const eventsSchema = z.array(z.object({ detailType: z.string(), data: z.unknown() }));

/** Result of a job that an operator started. */
export const jobRunSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("not-configured") }),
  /** `notes`: reasons of a job that published nothing. */
  z.object({ kind: z.literal("ended"), events: eventsSchema, notes: z.array(z.string()) }),
  z.object({ kind: z.literal("failed"), problem: z.string(), events: eventsSchema }),
]);

export type JobRun = z.output<typeof jobRunSchema>;
