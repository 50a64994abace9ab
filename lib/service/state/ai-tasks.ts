import * as z from "zod";
import { AI_TASK_NAMES, AI_TASK_STATUSES } from "../../contract/ai-tasks.ts";
import { uuid } from "../../contract/values.ts";
import { clientId, instant } from "./fields.ts";

const status = z.enum(AI_TASK_STATUSES);
const progress = z.int().min(0).max(100);

/** An AI task. Its status and progress are those at the start of `plan`, which the clock moves on. */
export const aiTaskRecord = z.strictObject({
  client_id: clientId,
  task_id: uuid,
  task_name: z.enum(AI_TASK_NAMES),
  task_data: z.looseObject({}),
  status,
  progress,
  date_created: instant,
  started_at: instant.nullable(),
  /** What becomes of it, in the order of time. */
  plan: z.array(z.strictObject({ after_seconds: z.number().min(0), status, progress })).default([]),
  /** From when `after_seconds` count; null: from when the state is first loaded. */
  plan_from: instant.nullable().default(null),
});
