import * as z from "zod";
import { policySchema } from "../../contract/lifecycle-policies.ts";
import { textId } from "../../contract/values.ts";
import { PROJECT_A, PROJECT_B } from "./fields.ts";

/** The published record, always with its volumes. Responses contain them only on request. */
export const policyRecord = policySchema()
  .extend({
    volumes: z.array(z.strictObject({ volume_id: textId(), volume_name: z.string() })),
  })
  .strict();

export type PolicyRecord = z.output<typeof policyRecord>;

/** An active policy with volumes and both types of schedule, and a paused one without either. */
export const builtInPolicies = (): PolicyRecord[] => [
  {
    id: 1,
    name: "schedule_1",
    action: "volume_snapshot",
    ...PROJECT_A,
    status: "active",
    user_id: 11,
    schedules: [
      {
        id: "1488e2ce-f906-47fb-ba32-c25a3f63df4f",
        type: "cron",
        max_quantity: 2,
        owner: "lifecycle_policy",
        owner_id: 1,
        user_id: 11,
        resource_name_template: "snapshot of {volume_id}",
        retention_time: { weeks: 1, days: null, hours: null, minutes: null },
        timezone: "Europe/Luxembourg",
        day: null,
        day_of_week: "mon,fri",
        hour: "0, 20",
        minute: "30",
        month: null,
        week: null,
      },
      {
        id: "1488e2ce-f906-47fb-ba32-c25a3f63df50",
        type: "interval",
        max_quantity: 2,
        owner: "lifecycle_policy",
        owner_id: 1,
        user_id: 11,
        resource_name_template: "snapshot of {volume_id}",
        retention_time: null,
        weeks: null,
        days: null,
        hours: 2,
        minutes: 1,
      },
    ],
    volumes: [
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", volume_name: "my-volume" },
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df50", volume_name: "my-other-volume" },
    ],
  },
  {
    id: 2,
    name: "schedule_2",
    action: "volume_snapshot",
    ...PROJECT_B,
    status: "paused",
    user_id: 11,
    schedules: [],
    volumes: [],
  },
];
