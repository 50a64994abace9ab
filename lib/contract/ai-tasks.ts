import * as z from "zod";
import { lazy } from "./lazy.ts";
import { read } from "./operation.ts";
import { ifUsable, nothing, oneOf, openWord, timestamp, unlimitedText, uuid } from "./values.ts";

export const AI_TASK_STATUSES = [
  "FAILURE",
  "PENDING",
  "RECEIVED",
  "RETRY",
  "REVOKED",
  "STARTED",
  "SUCCESS",
] as const;

export const AI_TASK_NAMES = ["transcription", "content-moderation"] as const;

/** Lenient, because servers differ: since August 2026 they name the method only in `task_data`. */
const aiTaskSchema = lazy(() =>
  z
    .looseObject({
      task_id: uuid(),
      status: openWord(AI_TASK_STATUSES),
      progress: ifUsable(z.int().nullable()),
      task_name: ifUsable(openWord(AI_TASK_NAMES)),
      task_data: ifUsable(z.looseObject({})),
      // Published in August 2026; the document has no times of a task.
      processing_time: ifUsable(
        z.looseObject({
          started_at: ifUsable(timestamp().nullable()),
          completed_at: ifUsable(timestamp().nullable()),
          total_time_sec: ifUsable(z.number().nullable()),
        }),
      ),
    })
    .meta({ id: "AiTask" }),
);

/** Query string of another page, such as `page=2`; null when there is no such page. */
const pageLink = lazy(() => z.string().nullable().optional());

const dayOrInstant = lazy(() =>
  z.union([z.iso.date(), timestamp()], {
    error: "a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z",
  }),
);

export const listAiTasks = read({
  id: "list-ai-tasks",
  reference: "E3",
  summary: "List AI tasks: transcription and content moderation",
  path: "/streaming/ai/tasks",
  schemas: () => ({
    params: nothing(),
    query: z.strictObject({
      task_id: uuid().optional(),
      task_name: oneOf(AI_TASK_NAMES).optional(),
      status: oneOf(AI_TASK_STATUSES).optional(),
      date_created: dayOrInstant().optional(),
      ordering: oneOf(["task_id", "status", "task_name", "started_at"])
        .optional()
        .describe("ascending; default: started_at, descending"),
      search: unlimitedText()
        .optional()
        .describe("words to find in task_id, task_name, status and task_data, in any letter case"),
      page: z.int().min(1).optional().meta({ default: 1 }),
      limit: z.int().min(1).optional().meta({ default: 10 }),
    }),
    response: z.looseObject({
      count: z.int().nonnegative(),
      next: pageLink().describe("query string of the next page; null on the last one"),
      previous: pageLink().describe("query string of the previous page; null on the first one"),
      /** An entry without a readable id or status becomes undefined. */
      results: z.array(ifUsable(aiTaskSchema())),
    }),
  }),
});
