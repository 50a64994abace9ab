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
 * Everything in which MiniStack 1.5.33 is not AWS, as far as it matters here, and what is done instead.
 * The template stays as it is for AWS. What is done instead proves nothing of what it replaces; README
 * lists that as unproven.
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

/** Defect: CloudFormation knows neither type, and refuses a template that has one. */
const UNKNOWN_TYPES = new Set(["AWS::Events::EventBusPolicy", "AWS::Events::Archive"]);

const queuePolicySchema = z.object({
  Queues: z.json(),
  PolicyDocument: z.object({
    Version: z.string(),
    Statement: z.array(z.record(z.string(), z.json())),
  }),
});

/**
 * Not AWS: the emulator is spoken to in plain HTTP, which the policies of our queues refuse.
 * @returns the policy without that statement; nothing where it has no other
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
 * Defect: CloudFormation refuses an alarm on a sum of metrics, and with it the stack.
 * @returns an alarm of the same name on the first of the metrics
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

/**
 * Takes out of a package what the emulator cannot deploy or live with.
 * @param folder of the package; changed
 * @returns the resources of types that it does not know
 */
export const adaptPackage = async (folder: string): Promise<readonly MissingResource[]> => {
  // What `osls deploy --package` deploys; the template beside it is for people.
  const file = join(folder, "serverless-state.json");
  const state = stateSchema.parse(JSON.parse(await readFile(file, "utf8")));
  const template = state.service.provider.compiledCloudFormationTemplate;
  const entries = Object.entries(template.Resources);
  template.Resources = Object.fromEntries(
    entries.flatMap(([id, resource]) => {
      const deployed = UNKNOWN_TYPES.has(resource.Type) ? undefined : withPlainHttp(resource);
      return deployed ? [[id, withOneMetric(deployed)]] : [];
    }),
  );
  await writeFile(file, JSON.stringify(state));
  return entries.map(([, resource]) => resource).filter(({ Type }) => UNKNOWN_TYPES.has(Type));
};

const busArn = (busName: string): string =>
  `arn:aws:events:${REGION}:${AWS_ACCOUNT}:event-bus/${busName}`;

/** What the intrinsic functions in those resources stand for. */
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
 * Makes by the API what CloudFormation does not know. A bus's policy is left out: events of other AWS
 * accounts do not get to it anyway (below).
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
 * Not AWS: the emulator is spoken to in plain HTTP, which the policy of our bucket refuses. So the
 * policy goes, once a function has been refused.
 */
export const allowPlainHttp = async ({ s3 }: AwsClients, Bucket: string): Promise<void> => {
  await s3.send(new DeleteBucketPolicyCommand({ Bucket }));
};

const payloadFor = ({ InputTransformer }: Target, event: string): string =>
  InputTransformer?.InputTemplate?.replace("<aws.events.event.json>", () => event) ?? event;

/**
 * Defect: an event does not get from one AWS account's bus to another's, neither by a rule nor by
 * PutEvents. So the deployed rules of our bus are asked for it one by one, and what EventBridge would
 * send is sent to the queues that are their targets.
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
 * The same defect on the way out: the rule for a subscriber is matched, its target is not reached. A
 * queue beside that target gets what the other AWS account's bus would.
 * @returns what takes it away again
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

/** Defect: PutEvents takes entries of any size. So the client refuses what its documentation does. */
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
 * Defect: SendMessage takes any text as a group's or a deduplication id, and any delay. So the client
 * refuses what AWS does.
 */
export const refusingWrongMessages = (client: SQSClient): SQSClient => {
  client.middlewareStack.add(
    (next) => async (args) => {
      const isMessage = "MessageBody" in args.input;
      if (!isMessage || sendMessageSchema.safeParse(args.input).success) return next(args);
      const name = "InvalidParameterValue";
      const message = "an id or the delay is not what SQS takes";
      throw new SQSServiceException({ name, message, $fault: "client", $metadata: {} });
    },
    { step: "initialize" },
  );
  return client;
};
