import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import {
  ipAddress,
  nothing,
  oneOf,
  projectAndRegion,
  resourceName,
  tasksReply,
  unlimitedText,
  uuid,
} from "./values.ts";

const timeoutMs = lazy(() => z.int().min(0).max(86_400_000).nullable().optional());
const secretId = lazy(() => uuid().nullable().optional());

/** Fields that only an HTTP or HTTPS monitor may have (published schema). */
const HTTP_FIELDS = [
  "http_method",
  "http_version",
  "url_path",
  "expected_codes",
  "domain_name",
] as const;
const isHttp = (type: string | null | undefined): boolean => !type || /^HTTPS?$/.test(type);

/** Description of a read-only field in a request. */
const IGNORED = "ignored";

const CODE = "[1-5]\\d\\d";
const CODES = new RegExp(`^${CODE}(-${CODE})?(,${CODE}(-${CODE})?)*$`);

const codesRule = { error: "status codes and ranges from 100 to 599, such as 200,202,300-302" };

const areRangesUpward = (text: string): boolean =>
  text.split(",").every((part) => {
    const [first = "", last = first] = part.split("-");
    return first <= last;
  });

const statusCodes = lazy(() =>
  z
    .string()
    .regex(CODES, codesRule)
    .refine((text) => !CODES.test(text) || areRangesUpward(text), codesRule),
);

/** Health monitor of a pool update. It replaces the current monitor as a whole, so it has to be complete. */
export const healthMonitorSchema = lazy(() =>
  z
    .strictObject({
      delay: z.int().min(1).max(2_147_483_647).describe("seconds between two checks"),
      timeout: z.int().min(0).max(2_147_483).describe("seconds"),
      max_retries: z.int().min(1).max(10),
      max_retries_down: z.int().min(1).max(10).optional(),
      type: z
        .enum(["HTTP", "HTTPS", "K8S", "PING", "TCP", "TLS-HELLO", "UDP-CONNECT"])
        .nullable()
        .optional(),
      http_method: z
        .enum(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"])
        .nullable()
        .optional(),
      http_version: z.enum(["1.0", "1.1"]).nullable().optional(),
      url_path: z
        .string()
        .regex(/^\/([^/?#%][^?#%]*)?$/, { error: "a path such as /health, without ?, # or %" })
        .nullable()
        .optional(),
      expected_codes: statusCodes().nullable().optional(),
      domain_name: z
        .string()
        .regex(/^[A-Za-z0-9._-]{1,253}$/, { error: "a host name" })
        .nullable()
        .optional(),
      admin_state_up: z.boolean().optional(),
      // Read-only at the provider. Accepted, so that a client can send a monitor as it read it.
      id: uuid().optional().describe(IGNORED),
      operating_status: unlimitedText().optional().describe(IGNORED),
      provisioning_status: unlimitedText().optional().describe(IGNORED),
    })
    .refine((monitor) => monitor.timeout < monitor.delay, {
      path: ["timeout"],
      error: "must be below delay",
    })
    .refine(({ type, ...fields }) => isHttp(type) || HTTP_FIELDS.every((name) => !fields[name]), {
      path: ["type"],
      error: `must be HTTP or HTTPS when any of these is set: ${HTTP_FIELDS.join(", ")}`,
    }),
);

export const sessionPersistenceSchema = lazy(() =>
  z
    .strictObject({
      type: oneOf(["APP_COOKIE", "HTTP_COOKIE", "SOURCE_IP"]),
      cookie_name: resourceName().nullable().optional(),
      persistence_granularity: unlimitedText().nullable().optional(),
      persistence_timeout: z.int().nullable().optional(),
    })
    .refine(({ type, cookie_name }) => type !== "SOURCE_IP" || !cookie_name, {
      path: ["cookie_name"],
      error: "requires type APP_COOKIE or HTTP_COOKIE",
    }),
);

export const poolMemberSchema = lazy(() =>
  z
    .strictObject({
      address: ipAddress(),
      protocol_port: z.int().min(1).max(65535),
      id: uuid()
        .optional()
        .describe("ignored; a member is identified by address and protocol_port"),
      subnet_id: uuid().nullable().optional(),
      instance_id: uuid().nullable().optional(),
      weight: z.int().min(1).max(256).optional(),
      monitor_address: ipAddress().nullable().optional(),
      monitor_port: z.int().min(1).max(65535).nullable().optional(),
      backup: z.boolean().optional(),
      admin_state_up: z.boolean().optional(),
      // Read-only at the provider. Accepted, so that a client can send a member as it read it.
      operating_status: unlimitedText().optional().describe(IGNORED),
      provisioning_status: unlimitedText().optional().describe(IGNORED),
    })
    .refine((member) => !(member.subnet_id && member.instance_id), {
      path: ["instance_id"],
      error: "give subnet_id or instance_id, not both",
    }),
);

/** Body of a pool update: omitted fields keep their values, nested objects are replaced as a whole. */
export const poolUpdateSchema = lazy(() =>
  z.strictObject({
    ca_secret_id: secretId().describe("secret with the CA certificate bundle"),
    crl_secret_id: secretId().describe("secret with the CA revocation list"),
    healthmonitor: healthMonitorSchema().nullable().optional(),
    lb_algorithm: z.enum(["LEAST_CONNECTIONS", "ROUND_ROBIN", "SOURCE_IP"]).optional(),
    members: z.array(poolMemberSchema()).nullable().optional(),
    name: resourceName().optional(),
    protocol: z.enum(["HTTP", "HTTPS", "PROXY", "PROXYV2", "TCP", "UDP"]).optional(),
    secret_id: secretId().describe("secret for TLS client authentication toward members"),
    session_persistence: sessionPersistenceSchema().nullable().optional(),
    timeout_client_data: timeoutMs().describe("milliseconds of client inactivity"),
    timeout_member_connect: timeoutMs().describe("milliseconds to connect to a member"),
    timeout_member_data: timeoutMs().describe("milliseconds of member inactivity"),
    admin_state_up: z.boolean().optional(),
  }),
);

/** The fields of a pool record that the automation needs. */
export const poolSchema = lazy(() =>
  z
    .looseObject({
      id: z.string(),
      name: z.string(),
      task_id: z.string().nullable().describe("task that locks the pool; null if none does"),
    })
    .meta({ id: "LoadBalancerPool" }),
);

const poolParams = lazy(() => z.strictObject({ ...projectAndRegion(), pool_id: uuid() }));

/** The document's path. An account can use the successor path instead, `POOL_SUCCESSOR_PATH`. */
export const POOL_PATH = "/cloud/v1/lbpools/{project_id}/{region_id}/{pool_id}";
export const POOL_SUCCESSOR_PATH = "/cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}";

export const updatePool = mutation({
  id: "update-pool",
  reference: "E8",
  summary: "Replace settings of a load balancer pool",
  method: "PATCH",
  path: POOL_PATH,
  schemas: () => ({
    params: poolParams(),
    query: nothing(),
    body: poolUpdateSchema(),
    response: tasksReply(),
  }),
  answers: "tasks",
  // Date of the first published revision that deprecates the path.
  deprecated: { since: "2025-11-18T00:00:00Z", successorPath: POOL_SUCCESSOR_PATH },
  lane: { resource: "pool", by: ["params.project_id", "params.region_id", "params.pool_id"] },
  conflictMeansLocked: true,
  afterAmbiguousSend: "send-again-when-unlocked",
});

export const getPool = read({
  id: "get-pool",
  reference: "GET pool",
  summary: "Read one load balancer pool",
  path: POOL_PATH,
  schemas: () => ({
    params: poolParams(),
    query: nothing(),
    response: poolSchema(),
  }),
});
