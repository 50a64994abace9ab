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

/** An AI task. Its status and progress are those at the start of `plan`, which the clock moves on. */
export const aiTaskRecord = z.strictObject({
  client_id: clientId,
  task_id: uuid,
  task_name: z.enum(AI_TASK_NAMES),
  task_data: z.looseObject({}),
  status,
  progress,
  date_created: timestamp,
  started_at: timestamp.nullable(),
  /** When it ended, if it had before its plan begins. */
  completed_at: timestamp.nullable().optional(),
  /** What becomes of it, in the order of time. */
  plan: z
    .array(step)
    .refine(isInOrder, { error: "steps must be in the order of time" })
    .default([]),
  /** From when `after_seconds` count; null: from when the state is first loaded. */
  plan_from: timestamp.nullable().default(null),
});
