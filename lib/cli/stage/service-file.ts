import { parse, type ScalarTag } from "yaml";
import * as z from "zod";

/** Short forms of CloudFormation's functions that serverless.yml uses. */
const tag = (name: string, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `!${name}`,
  resolve,
});

const TAGS: ScalarTag[] = [
  tag("Ref", (text) => ({ Ref: text })),
  tag("Sub", (text) => ({ "Fn::Sub": text })),
  tag("GetAtt", (text) => ({ "Fn::GetAtt": text.split(".") })),
];

/** Content of serverless.yml, with its variables. */
export const parseServiceFile = (text: string): unknown => parse(text, { customTags: TAGS });

const paramsSchema = z.looseObject({
  params: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Parameters of a stage: the block `default`, overridden by the stage's own block. */
export const paramsOf = (service: unknown, stage: string): Readonly<Record<string, unknown>> => {
  const { params } = paramsSchema.parse(service);
  return { ...params.default, ...(Object.hasOwn(params, stage) && params[stage]) };
};

const members = z.record(z.string(), z.unknown());

const sqsEventSchema = z.strictObject({
  arn: z.strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
  batchSize: z.int(),
  functionResponseType: z.string().optional(),
  maximumConcurrency: z.int().optional(),
});

const functionSchema = z.strictObject({
  handler: z.string(),
  description: z.string(),
  role: z.string(),
  environment: members,
  timeout: z.int(),
  memorySize: z.int().optional(),
  dependsOn: z.array(z.string()).default([]),
  recursiveLoop: z.string().optional(),
  maximumRetryAttempts: z.int().optional(),
  maximumEventAge: z.int().optional(),
  destinations: z
    .strictObject({ onFailure: z.strictObject({ type: z.literal("sqs"), arn: z.unknown() }) })
    .optional(),
  events: z.array(z.strictObject({ sqs: sqsEventSchema })).default([]),
  package: z.strictObject({ patterns: z.array(z.string()) }),
});

const resourcesSchema = z.strictObject({
  Parameters: members.optional(),
  Conditions: members.optional(),
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })).optional(),
  Outputs: members.optional(),
  /** Additions to resources that the packager generates. */
  extensions: z
    .record(
      z.string(),
      z.strictObject({ Properties: members.optional(), DependsOn: z.array(z.string()).optional() }),
    )
    .optional(),
});

/**
 * The part of serverless.yml that becomes a template, after its variables are resolved. Strict, because osls accepts
 * more than the packager compiles: a setting that is new in serverless.yml must not be lost.
 */
const serviceSchema = z.looseObject({
  service: z.string(),
  provider: z.strictObject({
    name: z.literal("aws"),
    runtime: z.string(),
    region: z.string(),
    architecture: z.string(),
    memorySize: z.int(),
    logRetentionInDays: z.int(),
    versionFunctions: z.literal(false),
    environment: members,
    stackTags: z.record(z.string(), z.string()),
  }),
  functions: z.record(z.string(), functionSchema),
  resources: z.array(resourcesSchema),
});

export type Service = z.output<typeof serviceSchema>;
export type ServiceFunction = Service["functions"][string];

/** @throws ZodError for a setting that the packager does not know */
export const readService = (resolved: unknown): Service => serviceSchema.parse(resolved);
