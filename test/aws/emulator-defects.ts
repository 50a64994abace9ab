import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  CreateArchiveCommand,
  type EventBridgeClient,
  EventBridgeServiceException,
  ListArchivesCommand,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
  type Target,
  TestEventPatternCommand,
} from "@aws-sdk/client-eventbridge";
import { DeleteBucketPolicyCommand } from "@aws-sdk/client-s3";
import {
  GetQueueUrlCommand,
  SendMessageCommand,
  type SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import * as z from "zod";
import { refusalOfSize } from "../support/put-events.ts";
import { AWS_ACCOUNT, type AwsClients, REGION } from "./aws-clients.ts";

/*
 * All differences between MiniStack 1.5.33 and AWS that affect these tests, each with its workaround. The template
 * itself stays as for AWS. A workaround proves nothing about the part that it replaces; docs/internals/testing.md
 * lists these parts.
 */

const resourceSchema = z.looseObject({ Type: z.string(), Properties: z.json() });
const stateSchema = z.looseObject({
  service: z.looseObject({
    provider: z.looseObject({
      compiledCloudFormationTemplate: z.looseObject({
        Resources: z.record(z.string(), resourceSchema),
      }),
    }),
  }),
});

export type MissingResource = z.output<typeof resourceSchema>;

/** Defect: CloudFormation knows neither type and refuses a template with one. */
const UNKNOWN_TYPES = new Set(["AWS::Events::EventBusPolicy", "AWS::Events::Archive"]);

const queuePolicySchema = z.object({
  Queues: z.json(),
  PolicyDocument: z.object({
    Version: z.string(),
    Statement: z.array(z.record(z.string(), z.json())),
  }),
});

/**
 * Difference: the emulator uses plain HTTP, which the queue policies refuse.
 * @returns the policy without that statement; undefined if it has no other statement
 */
const withPlainHttp = (resource: MissingResource): MissingResource | undefined => {
  if (resource.Type !== "AWS::SQS::QueuePolicy") return resource;
  const { Queues, PolicyDocument } = queuePolicySchema.parse(resource.Properties);
  const Statement = PolicyDocument.Statement.filter(({ Sid }) => Sid !== "NoPlainHttp");
  if (Statement.length === 0) return undefined;
  return { ...resource, Properties: { Queues, PolicyDocument: { ...PolicyDocument, Statement } } };
};

const sumAlarmSchema = z.looseObject({
  Metrics: z.array(
    z.object({
      MetricStat: z
        .object({ Metric: z.record(z.string(), z.json()), Period: z.number(), Stat: z.string() })
        .optional(),
    }),
  ),
});

/**
 * Defect: CloudFormation refuses a stack that has an alarm on a sum of metrics.
 * @returns an alarm with the same name on the first metric
 */
const withOneMetric = (resource: MissingResource): MissingResource => {
  const { data: alarm } = sumAlarmSchema.safeParse(resource.Properties);
  if (resource.Type !== "AWS::CloudWatch::Alarm" || !alarm) return resource;
  const { Metrics, ...properties } = alarm;
  const { MetricStat } = Metrics.find((each) => each.MetricStat) ?? {};
  const { Metric, Period, Stat } = { ...MetricStat };
  const Properties = { ...properties, ...Metric, Period, Statistic: Stat };
  return { ...resource, Properties: z.json().parse(Properties) };
};

type Resources = Readonly<Record<string, MissingResource>>;

/** The resources of a template as the emulator can deploy them. */
const deployable = (resources: Resources): Resources =>
  Object.fromEntries(
    Object.entries(resources).flatMap(([id, resource]) => {
      const deployed = UNKNOWN_TYPES.has(resource.Type) ? undefined : withPlainHttp(resource);
      return deployed ? [[id, withOneMetric(deployed)]] : [];
    }),
  );

const templateSchema = z.looseObject({ Resources: z.record(z.string(), resourceSchema) });

/** The text of a template as the emulator can deploy it. */
export const adaptTemplate = (text: string): string => {
  const template = templateSchema.parse(JSON.parse(text));
  return JSON.stringify({ ...template, Resources: deployable(template.Resources) });
};

/**
 * Changes a package so that the emulator can deploy it.
 * @param folder of the package, which is changed
 * @returns the removed resources, of types that the emulator does not know
 */
export const adaptPackage = async (folder: string): Promise<readonly MissingResource[]> => {
  // The file that `osls deploy --package` deploys. It ignores the template next to it.
  const file = join(folder, "serverless-state.json");
  const state = stateSchema.parse(JSON.parse(await readFile(file, "utf8")));
  const template = state.service.provider.compiledCloudFormationTemplate;
  const resources = Object.values(template.Resources);
  template.Resources = deployable(template.Resources);
  await writeFile(file, JSON.stringify(state));
  return resources.filter(({ Type }) => UNKNOWN_TYPES.has(Type));
};

const busArn = (busName: string): string =>
  `arn:aws:events:${REGION}:${AWS_ACCOUNT}:event-bus/${busName}`;

/** Values of the intrinsic functions in those resources. */
const resolved = (value: z.core.util.JSONType, busName: string): z.core.util.JSONType => {
  if (Array.isArray(value)) return value.map((each) => resolved(each, busName));
  if (typeof value !== "object" || value === null) return value;
  if (value.Ref === "AWS::AccountId") return AWS_ACCOUNT;
  if (value.Ref === "EventBus") return busName;
  if (value["Fn::GetAtt"]) return busArn(busName);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, resolved(each, busName)]),
  );
};

const archiveSchema = z.object({
  ArchiveName: z.string(),
  SourceArn: z.string(),
  EventPattern: z.unknown(),
  RetentionDays: z.number(),
});

/**
 * Creates the resources that CloudFormation does not know, by API calls. Bus policies are left out, because events
 * of other AWS accounts do not reach the bus anyway (below).
 */
export const deployMissing = async (
  { eventBridge }: AwsClients,
  busName: string,
  missing: readonly MissingResource[],
): Promise<void> => {
  const { Archives = [] } = await eventBridge.send(new ListArchivesCommand({}));
  const present = new Set(Archives.map(({ ArchiveName }) => ArchiveName));
  for (const { Type, Properties } of missing) {
    if (Type !== "AWS::Events::Archive") continue;
    const { SourceArn, EventPattern, ...archive } = archiveSchema.parse(
      resolved(Properties, busName),
    );
    if (present.has(archive.ArchiveName)) continue;
    await eventBridge.send(
      new CreateArchiveCommand({
        ...archive,
        EventSourceArn: SourceArn,
        EventPattern: JSON.stringify(EventPattern),
      }),
    );
  }
};

/**
 * Difference: the emulator uses plain HTTP, which the bucket policy refuses. So the policy is removed after one
 * function was refused.
 */
export const allowPlainHttp = async ({ s3 }: AwsClients, Bucket: string): Promise<void> => {
  await s3.send(new DeleteBucketPolicyCommand({ Bucket }));
};

const payloadFor = ({ InputTransformer }: Target, event: string): string =>
  InputTransformer?.InputTemplate?.replace("<aws.events.event.json>", () => event) ?? event;

/**
 * Defect: an event does not reach the bus of another AWS account, neither by a rule nor by PutEvents. So the
 * deployed rules of the bus are matched one by one, and the event is sent to the queues that are their targets.
 */
export const putFromOtherAccount = async (
  { eventBridge, sqs }: AwsClients,
  busName: string,
  event: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const text = JSON.stringify(event);
  const { Rules = [] } = await eventBridge.send(new ListRulesCommand({ EventBusName: busName }));
  for (const { Name, EventPattern, State } of Rules) {
    if (State !== "ENABLED") continue;
    const { Result } = await eventBridge.send(
      new TestEventPatternCommand({ EventPattern, Event: text }),
    );
    if (!Result) continue;
    const rule = { Rule: Name, EventBusName: busName };
    const { Targets = [] } = await eventBridge.send(new ListTargetsByRuleCommand(rule));
    for (const target of Targets.filter(({ Arn }) => Arn?.includes(":sqs:"))) {
      const QueueName = target.Arn?.split(":").at(-1);
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: payloadFor(target, text) }));
    }
  }
};

/**
 * The same defect for outgoing events: the rule of a subscriber matches, but its target is not reached. A queue as
 * second target receives the events instead of the other AWS account's bus.
 * @returns a function that removes this target
 */
export const alsoSendTo = async (
  { eventBridge }: AwsClients,
  rule: { readonly Rule: string; readonly EventBusName: string },
  queueArn: string,
): Promise<() => Promise<void>> => {
  const Id = "instead-of-the-bus";
  await eventBridge.send(new PutTargetsCommand({ ...rule, Targets: [{ Id, Arn: queueArn }] }));
  return async () => {
    await eventBridge.send(new RemoveTargetsCommand({ ...rule, Ids: [Id] }));
  };
};

const putEventsSchema = z.object({
  Entries: z.array(z.object({ Source: z.string(), DetailType: z.string(), Detail: z.string() })),
});

/** Defect: PutEvents accepts entries of any size. So the client refuses those over the documented limit. */
export const refusingLargeEvents = (client: EventBridgeClient): EventBridgeClient => {
  client.middlewareStack.add(
    (next) => async (args) => {
      const { data } = putEventsSchema.safeParse(args.input);
      const message = data && refusalOfSize(data.Entries);
      if (message === undefined) return next(args);
      const name = "ValidationException";
      throw new EventBridgeServiceException({ name, message, $fault: "client", $metadata: {} });
    },
    { step: "initialize" },
  );
  return client;
};

const sqsIdSchema = z.string().regex(/^[!-~]{1,128}$/);
const sendMessageSchema = z.object({
  MessageGroupId: sqsIdSchema.optional(),
  MessageDeduplicationId: sqsIdSchema.optional(),
  DelaySeconds: z.int().min(0).max(900).optional(),
});

/**
 * Defect: SendMessage accepts any text as group id or deduplication id, and any delay. So the client refuses the
 * values that AWS refuses.
 */
export const refusingWrongMessages = (client: SQSClient): SQSClient => {
  client.middlewareStack.add(
    (next) => async (args) => {
      const isMessage = "MessageBody" in args.input;
      if (!isMessage || sendMessageSchema.safeParse(args.input).success) return next(args);
      const name = "InvalidParameterValue";
      const message = "invalid group id, deduplication id or delay";
      throw new SQSServiceException({ name, message, $fault: "client", $metadata: {} });
    },
    { step: "initialize" },
  );
  return client;
};
