import * as z from "zod";
import { AI_TASK_NAMES, AI_TASK_STATUSES } from "../../contract/ai-tasks.ts";
import { timestamp, uuid } from "../../contract/values.ts";
import { clientId } from "./fields.ts";

const status = z.enum(AI_TASK_STATUSES);
const progress = z.int().min(0).max(100);

const step = z.strictObject({ after_seconds: z.number().min(0), status, progress });

const isInOrder = (steps: readonly z.output<typeof step>[]): boolean =>
  steps.every(
    ({ after_seconds }, index) => after_seconds >= (steps[index - 1]?.after_seconds ?? 0),
  );

/** An AI task: its status and progress at the start of `plan`, and the plan by which they change with time. */
export const aiTaskRecord = z.strictObject({
  client_id: clientId,
  task_id: uuid(),
  task_name: z.enum(AI_TASK_NAMES),
  task_data: z.looseObject({}),
  status,
  progress,
  date_created: timestamp(),
  started_at: timestamp().nullable(),
  /** End of the task, if it ended before its plan begins. */
  completed_at: timestamp().nullable().optional(),
  plan: z
    .array(step)
    .refine(isInOrder, { error: "steps must be sorted by after_seconds" })
    .default([]),
  /** Instant from which `after_seconds` counts; null for the instant at which the state is first loaded. */
  plan_from: timestamp().nullable().default(null),
});

export type AiTaskRecord = z.output<typeof aiTaskRecord>;

const VIDEO = "https://demo-files.gvideo.io/ai_demo_subtitles_nudity_detection.mp4";

/** Task number `n` of client 1: created at 10:00 on day `n`, started 30 s later and, if ended, ended at 10:05. */
const aiTask = (
  n: number,
  own: Pick<AiTaskRecord, "status" | "progress"> & Partial<AiTaskRecord>,
): AiTaskRecord => {
  const day = String(n).padStart(2, "0");
  const hasEnded = own.status === "SUCCESS" || own.status === "FAILURE" || own.status === "REVOKED";
  const task_name = own.task_name ?? "transcription";
  return {
    client_id: 1,
    task_id: `aafe70c6-0000-4000-8000-327b65f767${day}`,
    task_name,
    date_created: `2025-11-${day}T10:00:00Z`,
    started_at: `2025-11-${day}T10:00:30Z`,
    completed_at: hasEnded ? `2025-11-${day}T10:05:00Z` : null,
    plan: [],
    plan_from: null,
    task_data:
      task_name === "transcription"
        ? { task_name, url: VIDEO, audio_language: "eng" }
        : { task_name, url: VIDEO, category: "nsfw" },
    ...own,
  };
};

const MODERATION = { task_name: "content-moderation" } as const;

/** Tasks of every status. Two of them have a plan, so their status changes after the first start. */
export const builtInAiTasks = (): AiTaskRecord[] => [
  aiTask(1, { status: "SUCCESS", progress: 100 }),
  aiTask(2, { status: "SUCCESS", progress: 100, ...MODERATION }),
  aiTask(3, { status: "FAILURE", progress: 40 }),
  aiTask(4, { status: "REVOKED", progress: 10, ...MODERATION }),
  aiTask(5, { status: "SUCCESS", progress: 100 }),
  aiTask(6, { status: "RETRY", progress: 20, ...MODERATION }),
  aiTask(7, { status: "SUCCESS", progress: 100 }),
  aiTask(8, { status: "RECEIVED", progress: 0, ...MODERATION }),
  aiTask(9, { status: "SUCCESS", progress: 100 }),
  aiTask(10, { status: "PENDING", progress: 50 }),
  aiTask(11, {
    status: "STARTED",
    progress: 10,
    // A task returns to PENDING between two stages and keeps its progress.
    plan: [
      { after_seconds: 60, status: "PENDING", progress: 40 },
      { after_seconds: 120, status: "STARTED", progress: 60 },
      { after_seconds: 240, status: "SUCCESS", progress: 100 },
    ],
  }),
  aiTask(12, {
    status: "STARTED",
    progress: 10,
    ...MODERATION,
    plan: [{ after_seconds: 180, status: "FAILURE", progress: 70 }],
  }),
];
