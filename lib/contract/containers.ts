import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import { nothing, pathText, projectAndRegion, tasksReply, text, unlimitedText } from "./values.ts";

const isTopicName = (value: string): boolean =>
  value.length >= 1 &&
  value.length <= 223 &&
  value.split(".").every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label));

/**
 * Log shipping, with the provider's published fields and bounds. The published pattern for topics backtracks
 * catastrophically on hostile input, so `isTopicName` checks the same rule label by label.
 */
export const loggingSchema = lazy(() =>
  z.strictObject({
    destination_region_id: z.int().nullable().optional(),
    enabled: z.boolean().optional(),
    retention_policy: z
      .strictObject({ period: z.int().min(1).max(1825).nullable().describe("days") })
      .nullable()
      .optional(),
    topic_name: z
      .string()
      .refine(isTopicName, {
        error: "1 to 223 characters: dot-separated labels of a-z, 0-9 and inner hyphens",
      })
      .nullable()
      .optional(),
  }),
);

/** Autoscaling, with the provider's published triggers. */
export const scaleSchema = lazy(() =>
  z
    .strictObject({
      max: z.int().min(1).max(25),
      min: z.int().min(0).max(25),
      cooldown_period: z.int().min(1).max(3600).nullable().optional().describe("seconds"),
      triggers: z
        .strictObject({
          cpu: z
            .strictObject({ threshold: z.int().min(1).max(99).describe("percent") })
            .nullable()
            .optional(),
          memory: z
            .strictObject({ threshold: z.int().min(1).max(99).describe("percent") })
            .nullable()
            .optional(),
          http: z
            .strictObject({
              rate: z.int().min(1).max(1000).describe("requests in the window"),
              window: z.int().min(1).max(3600).describe("seconds"),
            })
            .nullable()
            .optional(),
        })
        .nullable()
        .optional(),
    })
    .refine((scale) => scale.min <= scale.max, { path: ["min"], error: "must not exceed max" }),
);

const hasNoProto = (value: unknown): boolean =>
  typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__");
const protoRule = { path: ["__proto__"], error: "no variable may have this name" };

/** Bounds of names and values in the published record; the document's update states none. */
const variableName = /^[a-zA-Z_][a-zA-Z0-9_]{0,254}$/;
const variables = lazy(() =>
  z.record(
    z.string().regex(variableName, {
      error: "letters, digits and underscores, no digit first, at most 255 characters",
    }),
    text(255),
  ),
);

/**
 * Environment variables by name. zod silently drops a key named `__proto__` while it parses an object, so
 * the check runs before parsing and before encoding and refuses such a key.
 */
const environment = lazy(() =>
  z
    .custom<Record<string, string>>(hasNoProto, protoRule)
    .meta({
      description: "variables by name, replaced as a whole; no variable may be named __proto__",
      type: "object",
      propertyNames: { type: "string", pattern: variableName.source },
      additionalProperties: { type: "string", maxLength: 255 },
    })
    .pipe(variables().refine(hasNoProto, protoRule)),
);

/** Limits shared by the update and the stored record. `timeout` is in seconds. */
export const containerLimits = lazy(() => ({
  description: text(255),
  image: text(230),
  listening_port: z.int().min(1).max(65535),
  timeout: z.int().min(0).max(180),
}));

/** Null keeps a field. For the three objects, only the published interface states this; the document does not. */
export const containerUpdateSchema = lazy(() =>
  z.strictObject({
    commands: unlimitedText().nullable().optional().describe("command that the container runs"),
    description: containerLimits().description.nullable().optional(),
    envs: environment().nullable().optional(),
    flavor: z
      .string()
      .regex(/^[0-9]{0,12}mCPU-[0-9]{0,12}Mi?B$/, { error: "a size such as 250mCPU-512MiB" })
      .nullable()
      .optional(),
    image: containerLimits()
      .image.nullable()
      .optional()
      .describe("reference of the container image"),
    is_api_key_auth: z
      .boolean()
      .refine((value) => !value, {
        error: "enabling key authentication is temporarily unavailable",
      })
      .nullable()
      .optional(),
    is_disabled: z.boolean().nullable().optional().describe("true disables the container"),
    listening_port: containerLimits()
      .listening_port.nullable()
      .optional()
      .describe("port that the container listens on"),
    logging: loggingSchema().nullable().optional(),
    pull_secret: unlimitedText()
      .nullable()
      .optional()
      .describe("name of the secret that pulls the image"),
    scale: scaleSchema().nullable().optional(),
    timeout: containerLimits().timeout.nullable().optional().describe("seconds"),
  }),
);

const containerParams = lazy(() =>
  z.strictObject({ ...projectAndRegion(), container_name: pathText() }),
);

export const updateContainer = mutation({
  id: "update-container",
  reference: "E1",
  summary: "Change the configuration of a container",
  method: "PATCH",
  path: "/cloud/v1/caas/{project_id}/{region_id}/containers/{container_name}",
  schemas: () => ({
    params: containerParams(),
    query: nothing(),
    body: containerUpdateSchema(),
    response: tasksReply(),
  }),
  answers: "tasks",
  lane: {
    resource: "container",
    by: ["params.project_id", "params.region_id", "params.container_name"],
  },
  conflictMeansLocked: true,
  afterAmbiguousSend: "send-again",
  secrets: ["body.envs", "body.pull_secret"],
});

/** The published record. Replies are parsed leniently; the service stores records strictly. */
const containerSchema = lazy(() =>
  z
    .looseObject({
      name: z.string(),
      description: z.string(),
      image: z.string(),
      flavor: z.string(),
      source: z.string(),
      namespace: z.string(),
      address: z.string(),
      status: z.string(),
      status_message: z.string().nullable(),
      commands: z.string().nullable().optional(),
      listening_port: z.int(),
      timeout: z.int(),
      is_disabled: z.boolean(),
      is_api_key_auth: z.boolean(),
      envs: z.record(z.string(), z.string()),
      pull_secret: z.string().nullable(),
      scale: z.looseObject({ max: z.int(), min: z.int() }),
      deploy_status: z.looseObject({ total: z.int(), ready: z.int() }),
      logging: z.looseObject({ enabled: z.boolean() }).nullable().optional(),
      created_at: z.string(),
    })
    .meta({ id: "Container" }),
);

export const getContainer = read({
  id: "get-container",
  reference: "GET container",
  summary: "Read one container",
  path: "/cloud/v1/caas/{project_id}/{region_id}/containers/{container_name}",
  schemas: () => ({
    params: containerParams(),
    query: nothing(),
    response: containerSchema(),
  }),
});
