import * as z from "zod";
import { ALARM_STATES, instanceSchema } from "../../contract/instances.ts";
import { textId } from "../../contract/values.ts";
import { ddosProfileRecord } from "./ddos-profile.ts";
import { lock, tagRecord } from "./fields.ts";

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
    id: textId,
    task_id: lock,
    blackhole_ports: z.array(blackholePort),
    ddos_profile: ddosProfileRecord.nullable(),
    flavor: z.strictObject({
      architecture: z.string(),
      flavor_id: z.string(),
      flavor_name: z.string(),
      // Bare metal and GPU flavors describe their hardware with other keys.
      hardware_description: z.record(z.string(), z.string()),
      resource_class: z.string().optional(),
      os_type: z.string(),
      ram: z.int(),
      vcpus: z.int(),
    }),
    tags: z.array(tagRecord),
  })
  .strict();
