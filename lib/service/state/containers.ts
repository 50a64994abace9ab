import * as z from "zod";
import { containerLimits, loggingSchema, scaleSchema } from "../../contract/containers.ts";
import { projectAndRegion } from "../../contract/values.ts";
import { lock } from "./fields.ts";

/** The published container record, with where it lives and the task that holds it. */
export const containerRecord = z.strictObject({
  ...projectAndRegion,
  task_id: lock,
  name: z.string(),
  ...containerLimits,
  flavor: z.string(),
  source: z.enum(["cloud", "iate"]),
  namespace: z.string(),
  address: z.string(),
  status: z.string(),
  status_message: z.string().nullable(),
  commands: z.string().nullable(),
  is_disabled: z.boolean(),
  is_api_key_auth: z.boolean(),
  envs: z.record(z.string(), z.string()),
  pull_secret: z.string().nullable(),
  scale: scaleSchema,
  deploy_status: z.strictObject({ total: z.int(), ready: z.int() }),
  logging: loggingSchema.required({ enabled: true }).nullable(),
  created_at: z.string(),
});
