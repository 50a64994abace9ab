import type { Service, ServiceFunction } from "./service-file.ts";

interface Resource {
  readonly Type: string;
  readonly [member: string]: unknown;
}

/** A CloudFormation template. */
export interface Template {
  readonly AWSTemplateFormatVersion: string;
  readonly Description: string;
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, unknown>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
}

/** Logical id of the bucket of the zips, the one that osls uses. */
export const BUCKET = "ServerlessDeploymentBucket";

/** Name of the output that holds the bucket of the zips. */
const BUCKET_OUTPUT = `${BUCKET}Name`;

const HEAD = {
  AWSTemplateFormatVersion: "2010-09-09",
  Description: "The AWS CloudFormation template for this Serverless application",
};

const bucketArn = (...path: readonly string[]) => ({
  "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":s3:::", { Ref: BUCKET }, ...path]],
});

const BUCKET_RESOURCES: Readonly<Record<string, Resource>> = {
  [BUCKET]: {
    Type: "AWS::S3::Bucket",
    Properties: {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
        ],
      },
    },
  },
  [`${BUCKET}Policy`]: {
    Type: "AWS::S3::BucketPolicy",
    Properties: {
      Bucket: { Ref: BUCKET },
      PolicyDocument: {
        Statement: [
          {
            Action: "s3:*",
            Effect: "Deny",
            Principal: "*",
            Resource: [bucketArn("/*"), bucketArn()],
            Condition: { Bool: { "aws:SecureTransport": false } },
          },
        ],
      },
    },
  },
};

/** The template of a new stack: only the bucket, so that the zips can be uploaded before the functions exist. */
export const bucketTemplate = (): Template => ({
  ...HEAD,
  Resources: BUCKET_RESOURCES,
  Outputs: { [BUCKET_OUTPUT]: { Value: { Ref: BUCKET } } },
});

/** `run-commands` as `RunDashcommands`. */
const logicalNameOf = (name: string): string =>
  name.charAt(0).toUpperCase() +
  name.slice(1).replaceAll("-", "Dash").replaceAll("_", "Underscore");

const arnOf = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });

interface Context {
  readonly service: Service;
  readonly stage: string;
  /** Name of an existing bucket of the zips; undefined: the bucket of the stack. */
  readonly bucket: string | undefined;
  /** S3 key of a function's zip. */
  readonly keyOf: (functionName: string) => string;
}

const functionResource = (
  name: string,
  {
    handler,
    description,
    timeout,
    recursiveLoop,
    environment,
    role,
    dependsOn,
    memorySize,
  }: ServiceFunction,
  { service, stage, bucket, keyOf }: Context,
): Resource => ({
  Type: "AWS::Lambda::Function",
  Properties: {
    Code: { S3Bucket: bucket ?? { Ref: BUCKET }, S3Key: keyOf(name) },
    Handler: handler,
    Runtime: service.provider.runtime,
    FunctionName: `${service.service}-${stage}-${name}`,
    MemorySize: memorySize ?? service.provider.memorySize,
    Timeout: timeout,
    Architectures: [service.provider.architecture],
    Description: description,
    ...(recursiveLoop !== undefined && { RecursiveLoop: recursiveLoop }),
    Environment: { Variables: { ...service.provider.environment, ...environment } },
    Role: arnOf(role),
  },
  DependsOn: [`${logicalNameOf(name)}LogGroup`, ...dependsOn, role],
});

/** Retries and dead letters of asynchronous invocations; none for a function without settings for them. */
const invokeConfigs = (
  name: string,
  { destinations, maximumEventAge, maximumRetryAttempts }: ServiceFunction,
): Readonly<Record<string, Resource>> => {
  if (maximumEventAge === undefined && maximumRetryAttempts === undefined && !destinations) {
    return {};
  }
  const id = logicalNameOf(name);
  return {
    [`${id}LambdaEvConf`]: {
      Type: "AWS::Lambda::EventInvokeConfig",
      Properties: {
        FunctionName: { Ref: `${id}LambdaFunction` },
        DestinationConfig: destinations
          ? { OnFailure: { Destination: destinations.onFailure.arn } }
          : {},
        Qualifier: "$LATEST",
        ...(maximumEventAge !== undefined && { MaximumEventAgeInSeconds: maximumEventAge }),
        ...(maximumRetryAttempts !== undefined && { MaximumRetryAttempts: maximumRetryAttempts }),
      },
    },
  };
};

const eventSourceMappings = (
  name: string,
  { events, role }: ServiceFunction,
): Readonly<Record<string, Resource>> =>
  Object.fromEntries(
    events.map(({ sqs: { arn, batchSize, functionResponseType, maximumConcurrency } }) => [
      `${logicalNameOf(name)}EventSourceMappingSQS${arn["Fn::GetAtt"][0]}`,
      {
        Type: "AWS::Lambda::EventSourceMapping",
        DependsOn: [role],
        Properties: {
          BatchSize: batchSize,
          EventSourceArn: arn,
          FunctionName: arnOf(`${logicalNameOf(name)}LambdaFunction`),
          Enabled: true,
          ...(functionResponseType !== undefined && {
            FunctionResponseTypes: [functionResponseType],
          }),
          ...(maximumConcurrency !== undefined && {
            ScalingConfig: { MaximumConcurrency: maximumConcurrency },
          }),
        },
      },
    ]),
  );

const functionResources = (context: Context): Readonly<Record<string, Resource>> => {
  const { functions, provider, service } = context.service;
  const each = Object.entries(functions);
  return {
    ...Object.fromEntries(
      each.map(([name]) => [
        `${logicalNameOf(name)}LogGroup`,
        {
          Type: "AWS::Logs::LogGroup",
          Properties: {
            LogGroupName: `/aws/lambda/${service}-${context.stage}-${name}`,
            RetentionInDays: provider.logRetentionInDays,
          },
        },
      ]),
    ),
    ...Object.assign(
      {},
      ...each.map(([name, its]) => ({
        [`${logicalNameOf(name)}LambdaFunction`]: functionResource(name, its, context),
        ...invokeConfigs(name, its),
      })),
      ...each.map(([name, its]) => eventSourceMappings(name, its)),
    ),
  };
};

type Extensions = NonNullable<Service["resources"][number]["extensions"]>;

const extended = (resource: Resource, { Properties, DependsOn }: Extensions[string]): Resource => ({
  ...resource,
  ...(DependsOn && { DependsOn: [resource.DependsOn ?? [], DependsOn].flat() }),
  ...(Properties && { Properties: Object.assign({}, resource.Properties, Properties) }),
});

/** @throws Error for an extension of a resource that does not exist */
const withExtensions = (
  resources: Readonly<Record<string, Resource>>,
  extensions: readonly Extensions[],
): Readonly<Record<string, Resource>> => {
  const all = new Map(Object.entries(resources));
  for (const [id, extension] of extensions.flatMap(Object.entries<Extensions[string]>)) {
    const resource = all.get(id);
    if (!resource) throw new Error(`serverless.yml: extensions: no resource ${id}`);
    all.set(id, extended(resource, extension));
  }
  return Object.fromEntries(all);
};

/**
 * Compiles the template of a stage. It equals the template of osls but for the keys of the zips, so that a stage can
 * be deployed by either. Pure.
 */
export const compileTemplate = (context: Context): Template => {
  const { service, stage, bucket } = context;
  const parts = service.resources;
  const resources: Readonly<Record<string, Resource>> = Object.assign(
    {},
    ...(bucket === undefined ? [BUCKET_RESOURCES] : []),
    functionResources(context),
    ...parts.map(({ Resources }) => Resources),
  );
  const bucketOutput = {
    Value: bucket ?? { Ref: BUCKET },
    Export: { Name: `sls-${service.service}-${stage}-${BUCKET_OUTPUT}` },
  };
  return {
    ...HEAD,
    Resources: withExtensions(
      resources,
      parts.map(({ extensions = {} }) => extensions),
    ),
    Outputs: Object.assign(
      { [BUCKET_OUTPUT]: bucketOutput },
      ...parts.map(({ Outputs }) => Outputs),
    ),
    Parameters: Object.assign({}, ...parts.map(({ Parameters }) => Parameters)),
    Conditions: Object.assign({}, ...parts.map(({ Conditions }) => Conditions)),
  };
};
