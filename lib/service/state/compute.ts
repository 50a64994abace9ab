import * as z from "zod";
import { containerLimits, loggingSchema, scaleSchema } from "../../contract/containers.ts";
import { ALARM_STATES, instanceSchema } from "../../contract/instances.ts";
import { ddosProfileRecord } from "./ddos-profile.ts";
import { lock, projectAndRegion, tagRecord } from "./fields.ts";

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

const blackholePort = z.strictObject({
  AlarmEnd: z.string(),
  AlarmStart: z.string(),
  AlarmState: z.enum(ALARM_STATES),
  AlertDuration: z.string(),
  DestinationIP: z.string(),
  ID: z.int(),
});

/** The answered record with its DDoS profile, which is shown only to who asks. */
export const instanceRecord = instanceSchema
  .extend({
    task_id: lock,
    blackhole_ports: z.array(blackholePort),
    ddos_profile: ddosProfileRecord.nullable(),
    flavor: z.strictObject({
      architecture: z.string(),
      flavor_id: z.string(),
      flavor_name: z.string(),
      hardware_description: z.strictObject({ ram: z.string(), vcpus: z.string() }),
      os_type: z.string(),
      ram: z.int(),
      vcpus: z.int(),
    }),
    tags: z.array(tagRecord),
  })
  .strict();
