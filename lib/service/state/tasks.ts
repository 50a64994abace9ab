import * as z from "zod";
import { containerUpdateSchema } from "../../contract/containers.ts";
import { createdResourcesSchema } from "../../contract/created-resources.ts";
import { poolUpdateSchema } from "../../contract/load-balancer-pools.ts";
import { routerCreateSchema } from "../../contract/routers.ts";
import { TASK_STATES, taskSchema } from "../../contract/tasks.ts";
import { projectAndRegion, textId, timestamp } from "../../contract/values.ts";
import { clientId, PROJECT_A } from "./fields.ts";
import { storedMonitor } from "./load-balancer-pools.ts";

/** Work that a task does at its end. It is removed then, so that no variable or name of a secret outlives it. */
const workSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("update-container"),
    container_name: z.string(),
    // An earlier version accepted any variable names and values.
    update: containerUpdateSchema().extend({
      envs: z.record(z.string(), z.string()).nullable().optional(),
    }),
  }),
  z.strictObject({
    kind: z.literal("update-pool"),
    pool_id: z.string(),
    update: poolUpdateSchema().extend({ healthmonitor: storedMonitor.nullable().optional() }),
  }),
  z.strictObject({ kind: z.literal("create-router"), router: routerCreateSchema() }),
]);

export type Work = z.output<typeof workSchema>;

/** Epoch milliseconds within the range of Date. */
const epochMs = z.number().min(0).max(8_640_000_000_000_000);

/** Plan of a task: it becomes RUNNING at `startsAtMs` and ends at `endsAtMs`. */
const planSchema = z
  .strictObject({ startsAtMs: epochMs, endsAtMs: epochMs, work: workSchema })
  .refine(({ startsAtMs, endsAtMs }) => startsAtMs <= endsAtMs, {
    path: ["endsAtMs"],
    error: "must not be before startsAtMs",
  });

const text = z.string().nullable().default(null);

/**
 * The published task record and its `plan`, which responses never contain. A running task without a plan never
 * ends.
 */
export const taskRecord = taskSchema()
  .extend({
    ...projectAndRegion(),
    id: textId(),
    task_type: z.string(),
    state: z.enum(TASK_STATES),
    created_on: timestamp(),
    updated_on: text,
    finished_on: text,
    error: text,
    created_resources: createdResourcesSchema().nullable().default(null),
    user_id: z.int(),
    client_id: clientId,
    user_client_id: clientId,
    data: z.record(z.string(), z.unknown()).nullable().default(null),
    detailed_state: text,
    request_id: text,
    job_id: text,
    lifecycle_policy_id: z.int().nullable().default(null),
    schedule_id: text,
    acknowledged_at: text,
    acknowledged_by: z.int().nullable().default(null),
    plan: planSchema.nullable().default(null),
  })
  .strict()
  .refine(({ state, plan }) => plan === null || state === "NEW" || state === "RUNNING", {
    path: ["plan"],
    error: "only a task in state NEW or RUNNING may have a plan",
  });

export type TaskRecord = z.output<typeof taskRecord>;

/** The task that created the built-in router. */
export const builtInTasks = (): TaskRecord[] => [
  {
    id: "d478ae29-dedc-4869-82f0-96104425f565",
    task_type: "create_router",
    state: "FINISHED",
    created_on: "2025-11-03T08:15:00.000Z",
    updated_on: "2025-11-03T08:15:08.000Z",
    finished_on: "2025-11-03T08:15:08.000Z",
    error: null,
    created_resources: { routers: ["da5b9588-cecc-4111-a318-3ad04da05900"] },
    ...PROJECT_A,
    user_id: 11,
    client_id: 1,
    user_client_id: 1,
    data: { name: "my_wonderful_router" },
    detailed_state: null,
    request_id: null,
    job_id: null,
    lifecycle_policy_id: null,
    schedule_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    plan: null,
  },
];
