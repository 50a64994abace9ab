import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import { pathInteger, projectAndRegion, resourceName, textId } from "./values.ts";

const count = lazy(() => z.int().nullable().optional());
const cronPart = lazy(() => z.string().nullable().optional());

const scheduleFields = lazy(() => ({
  id: z.string(),
  max_quantity: z.int(),
  owner: z.string(),
  owner_id: z.int(),
  user_id: z.int(),
  // The provider has it on both types; the document shows it only for cron.
  resource_name_template: z.string().nullable().optional(),
  retention_time: z
    .looseObject({ days: count(), hours: count(), minutes: count(), weeks: count() })
    .nullable()
    .optional(),
}));

const scheduleSchema = lazy(() =>
  z.discriminatedUnion("type", [
    z.looseObject({
      ...scheduleFields(),
      type: z.literal("cron"),
      day: cronPart(),
      day_of_week: cronPart(),
      hour: cronPart(),
      minute: cronPart(),
      month: cronPart(),
      week: cronPart(),
      timezone: cronPart(),
    }),
    z.looseObject({
      ...scheduleFields(),
      type: z.literal("interval"),
      weeks: count(),
      days: count(),
      hours: count(),
      minutes: count(),
    }),
  ]),
);

export const policySchema = lazy(() =>
  z
    .looseObject({
      id: z.int(),
      name: z.string(),
      action: z.string(),
      project_id: z.int(),
      region_id: z.int(),
      status: z.enum(["active", "paused"]),
      user_id: z.int(),
      schedules: z.array(scheduleSchema()),
      // Present only with need_volumes; otherwise some servers send null.
      volumes: z
        .array(z.looseObject({ volume_id: z.string(), volume_name: z.string() }))
        .nullable()
        .optional(),
    })
    .meta({ id: "LifecyclePolicy" }),
);

/** The document offers volumes on request without naming the parameter; this is its published name. */
const policyQuery = lazy(() =>
  z.strictObject({
    need_volumes: z.boolean().optional().describe("includes the volumes of the policy"),
  }),
);

const policyParams = lazy(() =>
  z.strictObject({ ...projectAndRegion(), policy_id: pathInteger() }),
);
const policyLane = {
  resource: "policy",
  by: ["params.project_id", "params.region_id", "params.policy_id"],
} as const;

export const removePolicyVolumes = mutation({
  id: "remove-policy-volumes",
  reference: "E4",
  summary: "Detach volumes from a snapshot lifecycle policy",
  method: "PUT",
  path: "/cloud/v1/lifecycle_policy/{project_id}/{region_id}/{policy_id}/remove_volumes_from_policy",
  schemas: () => ({
    params: policyParams(),
    query: policyQuery(),
    body: z.strictObject({
      volume_ids: z
        .array(textId())
        .describe("volumes to remove; ids that the policy lacks are ignored"),
    }),
    get response() {
      return policySchema();
    },
  }),
  answers: "immediate",
  lane: policyLane,
  afterAmbiguousSend: "send-again",
});

export const updatePolicy = mutation({
  id: "update-policy",
  reference: "E5",
  summary: "Rename, pause or activate a snapshot lifecycle policy",
  method: "PATCH",
  path: "/cloud/v1/lifecycle_policy/{project_id}/{region_id}/{policy_id}",
  schemas: () => ({
    params: policyParams(),
    query: policyQuery(),
    body: z.strictObject({
      name: resourceName().optional(),
      status: z.enum(["active", "paused"]).optional(),
    }),
    get response() {
      return policySchema();
    },
  }),
  answers: "immediate",
  lane: policyLane,
  afterAmbiguousSend: "send-again",
});

export const getPolicy = read({
  id: "get-policy",
  reference: "GET policy",
  summary: "Read one snapshot lifecycle policy",
  path: "/cloud/v1/lifecycle_policy/{project_id}/{region_id}/{policy_id}",
  schemas: () => ({
    params: policyParams(),
    query: policyQuery(),
    response: policySchema(),
  }),
});
