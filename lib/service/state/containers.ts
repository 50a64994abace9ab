import * as z from "zod";
import { containerLimits, loggingSchema, scaleSchema } from "../../contract/containers.ts";
import { projectAndRegion } from "../../contract/values.ts";
import { lock, PROJECT_A, PROJECT_B } from "./fields.ts";

/** The published container record, with its location and lock. */
export const containerRecord = z.strictObject({
  ...projectAndRegion(),
  task_id: lock,
  name: z.string(),
  ...containerLimits(),
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
  scale: scaleSchema(),
  deploy_status: z.strictObject({ total: z.int(), ready: z.int() }),
  logging: loggingSchema().required({ enabled: true }).nullable(),
  created_at: z.string(),
});

export type ContainerRecord = z.output<typeof containerRecord>;

const container = (
  own: Pick<
    ContainerRecord,
    "project_id" | "region_id" | "name" | "image" | "address" | "created_at"
  >,
): ContainerRecord => ({
  ...own,
  task_id: null,
  description: "",
  flavor: "80mCPU-128MiB",
  source: "cloud",
  namespace: "default",
  status: "Ready",
  status_message: null,
  commands: null,
  listening_port: 80,
  timeout: 120,
  is_disabled: false,
  is_api_key_auth: false,
  envs: { LOG_LEVEL: "info" },
  pull_secret: null,
  scale: { min: 1, max: 3, cooldown_period: 60, triggers: { cpu: { threshold: 80 } } },
  deploy_status: { total: 1, ready: 1 },
  logging: {
    destination_region_id: null,
    enabled: false,
    retention_policy: null,
    topic_name: null,
  },
});

export const builtInContainers = (): ContainerRecord[] => [
  container({
    ...PROJECT_A,
    name: "my-container",
    image: "nginx:latest",
    address: "https://my-container-76-1234567.containers.example.com/",
    created_at: "2025-11-20T09:00:00Z",
  }),
  container({
    ...PROJECT_B,
    name: "my-nginx",
    image: "nginx:1.27",
    address: "https://my-nginx-148-1186668.containers.example.com/",
    created_at: "2025-11-21T09:00:00Z",
  }),
];
