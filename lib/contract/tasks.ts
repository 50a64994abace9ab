import * as z from "zod";
import { createdResourcesSchema } from "./created-resources.ts";
import { formatWireJson } from "./json.ts";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import { ifUsable, noBody, nothing, pathId, timestamp } from "./values.ts";

export const TASK_STATES = ["NEW", "RUNNING", "FINISHED", "ERROR"] as const;

/** An error that is no text is read as its JSON, because a task with an error has failed; false and 0 are none. */
const errorText = () =>
  z
    .string()
    .nullable()
    .optional()
    .catch(({ value }) => (value ? formatWireJson(value) : null));

/**
 * A background task. `state` is open: any state but FINISHED and ERROR means that the task still runs. A list has the
 * tasks of all clients, so only a task without a usable id or state makes it unusable.
 */
export const taskSchema = lazy(() =>
  z
    .looseObject({
      id: z.string(),
      task_type: ifUsable(z.string()),
      state: z.string().describe("FINISHED and ERROR end the task; any other state means running"),
      created_on: ifUsable(z.string().nullable()),
      error: errorText().describe("reason of the state ERROR"),
      created_resources: ifUsable(createdResourcesSchema().nullable()).describe(
        "ids of created resources by kind",
      ),
      project_id: ifUsable(z.int().nullable()),
      region_id: ifUsable(z.int().nullable()),
    })
    .meta({ id: "Task" }),
);

/** The document's path. An account can use the published one instead, `PUBLISHED_TASK_PATH`. */
export const TASK_PATH = "/v1/tasks/{task_id}";
export const PUBLISHED_TASK_PATH = "/cloud/v1/tasks/{task_id}";

export const getTask = read({
  id: "get-task",
  reference: "Tasks",
  summary: "Read a background task",
  path: TASK_PATH,
  otherPath: PUBLISHED_TASK_PATH,
  schemas: () => ({
    params: z.strictObject({ task_id: pathId() }),
    query: nothing(),
    response: taskSchema(),
  }),
});

export const listTasks = read({
  id: "list-tasks",
  reference: "GET tasks",
  summary: "List background tasks",
  path: "/cloud/v1/tasks",
  schemas: () => ({
    params: nothing(),
    query: z.strictObject({
      limit: z.int().min(1).max(1000).optional().meta({ default: 10 }),
      offset: z.int().min(0).optional().meta({ default: 0 }),
      order_by: z.enum(["asc", "desc"]).optional().describe("by creation time; default: desc"),
      sorting: z.enum(["asc", "desc"]).optional().describe("older name of order_by"),
      state: z.array(z.enum(TASK_STATES)).optional(),
      project_id: z.array(z.int()).optional(),
      region_id: z.array(z.int()).optional(),
      task_type: z.string().optional(),
      is_acknowledged: z.boolean().optional(),
      from_timestamp: timestamp().optional(),
      to_timestamp: timestamp().optional(),
    }),
    response: z.looseObject({ count: z.int().nonnegative(), results: z.array(taskSchema()) }),
  }),
});

/** Follows a task that another client started. A command only: it sends no mutation, just reads of the task. */
export const followTask = mutation({
  id: "follow-task",
  reference: "Tasks",
  summary: "Follow a background task that another client started",
  method: "GET",
  path: TASK_PATH,
  schemas: () => ({
    params: z.strictObject({ task_id: pathId() }),
    query: nothing(),
    body: noBody(),
    response: taskSchema(),
  }),
  answers: "tasks",
  follows: "params.task_id",
  lane: { resource: "task", by: ["params.task_id"] },
  afterAmbiguousSend: "send-again",
});
