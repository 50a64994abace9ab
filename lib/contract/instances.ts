import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import { tagSchema } from "./tags.ts";
import { noBody, openWord, pathId, projectAndRegion } from "./values.ts";

/** Documents the limit of a reply without enforcing it: a client gains nothing by rejecting a longer text. */
const atMost = (maxLength: number) => z.string().meta({ maxLength });

const templateField = lazy(() => ({
  id: z.int(),
  name: atMost(30),
  description: atMost(255).nullable(),
  default: z.unknown().optional(),
  field_type: z.string().nullable(),
  required: z.boolean().nullable(),
  validation_schema: z.unknown().optional(),
}));

/** The DDoS profile of an instance. Exactly one of `value` and `field_value` holds the configured value. */
const ddosProfileSchema = lazy(() =>
  z.looseObject({
    id: z.int(),
    fields: z.array(
      z.looseObject({
        ...templateField(),
        base_field: z.int(),
        field_name: z.string().nullable().optional(),
        value: z.unknown().optional(),
        field_value: z.unknown().optional(),
      }),
    ),
    options: z.looseObject({ active: z.boolean(), bgp: z.boolean() }),
    profile_template: z
      .looseObject({
        id: z.int(),
        name: atMost(100),
        description: z.string().nullable(),
        fields: z.array(z.looseObject(templateField())),
      })
      .nullable(),
    profile_template_description: z.string().nullable(),
    protocols: z
      .array(z.looseObject({ port: z.string(), protocols: z.array(z.string()) }))
      .nullable(),
    site: atMost(50).nullable(),
    status: z
      .looseObject({ error_description: z.string().nullable(), status: z.string() })
      .nullable(),
  }),
);

export const INSTANCE_STATUSES = [
  "ACTIVE",
  "BUILD",
  "DELETED",
  "ERROR",
  "HARD_REBOOT",
  "MIGRATING",
  "PASSWORD",
  "PAUSED",
  "REBOOT",
  "REBUILD",
  "RESCUE",
  "RESIZE",
  "REVERT_RESIZE",
  "SHELVED",
  "SHELVED_OFFLOADED",
  "SHUTOFF",
  "SOFT_DELETED",
  "SUSPENDED",
  "UNKNOWN",
  "VERIFY_RESIZE",
] as const;

export const VM_STATES = [
  "active",
  "building",
  "deleted",
  "error",
  "paused",
  "rescued",
  "resized",
  "shelved",
  "shelved_offloaded",
  "soft-deleted",
  "stopped",
  "suspended",
] as const;

const BLACKHOLE_STATES = [
  "ACK_REQ",
  "ALARM",
  "ARCHIVED",
  "CLEAR",
  "CLEARING",
  "CLEARING_FAIL",
  "END_GRACE",
  "END_WAIT",
  "MANUAL_CLEAR",
  "MANUAL_CLEARING",
  "MANUAL_CLEARING_FAIL",
  "MANUAL_MITIGATING",
  "MANUAL_STARTING",
  "MANUAL_STARTING_FAIL",
  "MITIGATING",
  "STARTING",
  "STARTING_FAIL",
  "START_WAIT",
] as const;
/** The document lists both letter cases. The published list has grown since, so replies may contain others. */
export const ALARM_STATES = [
  ...BLACKHOLE_STATES,
  ...BLACKHOLE_STATES.map((state) => state.toLowerCase()),
];

/** An address that DDoS mitigation has taken off the network. */
const blackholePort = lazy(() =>
  z
    .looseObject({
      AlarmEnd: z.string().describe("0001-01-01T00:00:00Z until the alarm ends"),
      AlarmStart: z.string(),
      AlarmState: openWord(ALARM_STATES),
      AlertDuration: z.string(),
      DestinationIP: z.string(),
      ID: z.int(),
    })
    .partial(),
);

/** Bare metal and GPU flavors describe their hardware with other keys, so few fields are required. */
const flavorSchema = lazy(() =>
  z.looseObject({
    flavor_id: z.string(),
    flavor_name: z.string(),
    architecture: z.string().nullable().optional(),
    hardware_description: z.record(z.string(), z.string()).optional(),
    os_type: z.string().nullable().optional(),
    ram: z.int().describe("MiB").optional(),
    vcpus: z.int().optional(),
  }),
);

/** An instance record in a reply. A field is nullable where newer servers send null. */
export const instanceSchema = lazy(() =>
  z
    .looseObject({
      id: z.string(),
      name: z.string(),
      instance_description: z.string().nullable(),
      project_id: z.int(),
      region: z.string(),
      region_id: z.int(),
      created_at: z.string(),
      creator_task_id: z.string().nullable(),
      addresses: z.record(z.string(), z.array(z.looseObject({}))),
      blackhole_ports: z.array(blackholePort()),
      ddos_profile: ddosProfileSchema().nullable(),
      fixed_ip_assignments: z
        .array(
          z.looseObject({ external: z.boolean(), ip_address: z.string(), subnet_id: z.string() }),
        )
        .nullable(),
      flavor: flavorSchema(),
      instance_isolation: z.looseObject({ reason: z.string().nullable() }).nullable(),
      security_groups: z.array(z.looseObject({ name: z.string() })),
      ssh_key_name: z.string().nullable(),
      status: z.enum(INSTANCE_STATUSES),
      tags: z.array(tagSchema()),
      task_id: z.string().nullable().describe("task that locks the instance; null if none does"),
      task_state: z.string().nullable(),
      vm_state: z.enum(VM_STATES),
      volumes: z.array(z.looseObject({ delete_on_termination: z.boolean(), id: z.string() })),
    })
    .meta({ id: "Instance" }),
);

const instanceQuery = lazy(() =>
  z.strictObject({
    with_ddos: z.boolean().optional().describe("includes ddos_profile, which is null otherwise"),
  }),
);

const instanceParams = lazy(() => z.strictObject({ ...projectAndRegion(), instance_id: pathId() }));

export const resumeInstance = mutation({
  id: "resume-instance",
  reference: "E2",
  summary: "Resume a suspended instance",
  method: "POST",
  path: "/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/resume",
  schemas: () => ({
    params: instanceParams(),
    query: instanceQuery(),
    body: noBody(),
    // The document wraps the instance in a list. Servers since August 2026 send the instance alone.
    get response() {
      return z.union([
        z.looseObject({ count: z.int().nonnegative(), results: z.array(instanceSchema()) }),
        instanceSchema(),
      ]);
    },
  }),
  answers: "immediate",
  lane: {
    resource: "instance",
    by: ["params.project_id", "params.region_id", "params.instance_id"],
  },
  conflictMeansLocked: true,
  afterAmbiguousSend: "send-again-unless-done",
});

export const getInstance = read({
  id: "get-instance",
  reference: "GET instance",
  summary: "Read one instance",
  path: "/cloud/v1/instances/{project_id}/{region_id}/{instance_id}",
  schemas: () => ({
    params: instanceParams(),
    query: instanceQuery(),
    response: instanceSchema(),
  }),
});
