import * as z from "zod";
import { ALARM_STATES, instanceSchema } from "../../contract/instances.ts";
import { text, textId } from "../../contract/values.ts";
import { lock, PROJECT_A, PROJECT_B, REGION_NAMES, SUBNET_OF_ROUTER, tagRecord } from "./fields.ts";

const templateField = {
  id: z.int(),
  name: text(30),
  description: text(255).nullable(),
  default: z.unknown().optional(),
  field_type: z.enum(["int", "bool", "str"]).nullable(),
  required: z.boolean().nullable(),
  validation_schema: z.unknown().optional(),
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const configuredField = z
  .strictObject({
    ...templateField,
    base_field: z.int(),
    field_name: z.string().nullable().optional(),
    value: z.unknown().optional(),
    field_value: z.unknown().optional(),
  })
  .refine(({ value, field_value }) => isGiven(value) !== isGiven(field_value), {
    path: ["value"],
    error: "give exactly one of value and field_value",
  });

/** DDoS profile with the limits of the document. */
const ddosProfileRecord = z.strictObject({
  id: z.int(),
  fields: z.array(configuredField),
  options: z.strictObject({ active: z.boolean(), bgp: z.boolean() }),
  profile_template: z
    .strictObject({
      id: z.int(),
      name: text(100),
      description: z.string().nullable(),
      fields: z.array(z.strictObject(templateField)),
    })
    .nullable(),
  profile_template_description: z.string().nullable(),
  protocols: z
    .array(z.strictObject({ port: z.string(), protocols: z.array(z.string()) }))
    .nullable(),
  site: text(50).nullable(),
  status: z
    .strictObject({
      error_description: z.string().nullable(),
      status: text(30).min(3),
    })
    .nullable(),
});

const blackholePort = z.strictObject({
  AlarmEnd: z.string(),
  AlarmStart: z.string(),
  AlarmState: z.enum(ALARM_STATES),
  AlertDuration: z.string(),
  DestinationIP: z.string(),
  ID: z.int(),
});

/** The published record, always with its DDoS profile. Responses contain the profile only on request. */
export const instanceRecord = instanceSchema()
  .extend({
    id: textId(),
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

export type InstanceRecord = z.output<typeof instanceRecord>;

const NET1 = { network: "net1", subnet_name: "attached", subnet_id: SUBNET_OF_ROUTER } as const;
const NET2 = {
  network: "net2",
  subnet_name: "free-3",
  subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03",
} as const;

const ddosProfile = (): NonNullable<InstanceRecord["ddos_profile"]> => {
  const field = {
    id: 11,
    name: "ARK server ports",
    description: "Ports that game traffic may use",
    default: null,
    field_type: "str",
    required: true,
    validation_schema: { type: "string" },
  } as const;
  return {
    id: 1,
    fields: [{ ...field, base_field: 11, field_name: "ports", value: "7777", field_value: null }],
    options: { active: true, bgp: false },
    profile_template: {
      id: 63,
      name: "ark_default",
      description: "Game server",
      fields: [field],
    },
    profile_template_description: "Game server",
    protocols: [{ port: "12000-25000", protocols: ["UDP"] }],
    site: "GNC",
    status: { error_description: "", status: "Updated" },
  };
};

const instance = (
  own: Pick<InstanceRecord, "id" | "name" | "project_id" | "status" | "vm_state"> & {
    readonly region_id: keyof typeof REGION_NAMES;
  },
  volumeId: string,
  { addr, network, ...subnet }: (typeof NET1 | typeof NET2) & { readonly addr: string },
): InstanceRecord => ({
  ...own,
  region: REGION_NAMES[own.region_id],
  instance_description: "",
  created_at: "2025-11-29T10:56:49Z",
  creator_task_id: "26986bc0-748a-4448-b836-0a2aa465eb06",
  addresses: {
    [network]: [{ addr, type: "fixed", interface_name: null, ...subnet }],
  },
  blackhole_ports: [],
  ddos_profile: ddosProfile(),
  fixed_ip_assignments: [{ external: false, ip_address: addr, subnet_id: subnet.subnet_id }],
  flavor: {
    flavor_id: "g1-standard-1-2",
    flavor_name: "g1-standard-1-2",
    vcpus: 1,
    ram: 2048,
    hardware_description: { vcpus: "1", ram: "2GiB" },
    os_type: "linux",
    architecture: "x86_64",
  },
  instance_isolation: { reason: "" },
  security_groups: [{ name: "default" }],
  ssh_key_name: "my-key",
  tags: [{ key: "my-tag", value: "my-tag-value", read_only: false }],
  task_id: null,
  task_state: "",
  volumes: [{ id: volumeId, delete_on_termination: false }],
});

const SUSPENDED = { status: "SUSPENDED", vm_state: "suspended" } as const;

/** A suspended and an active instance in the first project, a suspended one in the second. */
export const builtInInstances = (): InstanceRecord[] => [
  instance(
    {
      ...PROJECT_A,
      ...SUSPENDED,
      id: "6c6aa80f-7836-4dc2-a2ae-125e248be476",
      name: "my-instance",
    },
    "3ed9e2ce-f906-47fb-ba32-c25a3f63df4f",
    { ...NET1, addr: "192.168.40.33" },
  ),
  instance(
    {
      ...PROJECT_A,
      id: "6c6aa80f-7836-4dc2-a2ae-125e248be477",
      name: "my-active-instance",
      status: "ACTIVE",
      vm_state: "active",
    },
    "3ed9e2ce-f906-47fb-ba32-c25a3f63df50",
    { ...NET1, addr: "192.168.40.34" },
  ),
  instance(
    {
      ...PROJECT_B,
      ...SUSPENDED,
      id: "6c6aa80f-7836-4dc2-a2ae-125e248be478",
      name: "my-other-instance",
    },
    "3ed9e2ce-f906-47fb-ba32-c25a3f63df51",
    { ...NET2, addr: "10.1.0.33" },
  ),
];
