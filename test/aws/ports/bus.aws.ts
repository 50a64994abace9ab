import { randomUUID } from "node:crypto";
import {
  CreateEventBusCommand,
  DeleteEventBusCommand,
  DeleteRuleCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { inject } from "vitest";
import * as z from "zod";
import { createEventbridgeBus } from "../../../lib/aws/eventbridge-bus.ts";
import { type ArrivedEvent, describeBusContract } from "../../ports/bus-contract.ts";
import { AWS_ACCOUNT, createAwsClients, REGION } from "../aws-clients.ts";
import { refusingLargeEvents } from "../emulator-defects.ts";

const endpoint = inject("awsEndpoint");
const { eventBridge, iam, sqs } = createAwsClients(endpoint);

const arrivedSchema = z
  .object({ source: z.string(), "detail-type": z.string(), detail: z.unknown() })
  .transform(({ source, "detail-type": detailType, detail }) => ({ source, detailType, detail }));

/** A bus whose events all go into a queue. */
const createBus = async (name: string) => {
  await eventBridge.send(new CreateEventBusCommand({ Name: name }));
  const queueArn = `arn:aws:sqs:${REGION}:${AWS_ACCOUNT}:${name}`;
  const statement = {
    Effect: "Allow",
    Principal: { Service: "events.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: queueArn,
  };
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: { Policy } }),
  );
  const rule = { Rule: "tap", EventBusName: name };
  const EventPattern = JSON.stringify({ source: ["skyhook"] });
  await eventBridge.send(new PutRuleCommand({ Name: "tap", EventBusName: name, EventPattern }));
  await eventBridge.send(
    new PutTargetsCommand({ ...rule, Targets: [{ Id: "tap", Arn: queueArn }] }),
  );
  const receive = async (): Promise<readonly ArrivedEvent[]> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { ReceiptHandle } of Messages) {
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return Messages.map(({ Body = "" }) => arrivedSchema.parse(JSON.parse(Body)));
  };
  return {
    receive,
    async remove() {
      await eventBridge.send(new RemoveTargetsCommand({ ...rule, Ids: ["tap"] }));
      await eventBridge.send(new DeleteRuleCommand({ Name: "tap", EventBusName: name }));
      await eventBridge.send(new DeleteEventBusCommand({ Name: name }));
      await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
};

/** Somebody who may publish on that bus until it is forbidden. */
const createPublisher = async (busName: string) => {
  const policy = { UserName: busName, PolicyName: "publish" };
  await iam.send(new CreateUserCommand({ UserName: busName }));
  const statement = {
    Effect: "Allow",
    Action: "events:PutEvents",
    Resource: `arn:aws:events:${REGION}:${AWS_ACCOUNT}:event-bus/${busName}`,
  };
  const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await iam.send(new PutUserPolicyCommand({ ...policy, PolicyDocument }));
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: busName }));
  const { AccessKeyId = "", SecretAccessKey = "" } = AccessKey ?? {};
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey };
  const forbid = async (): Promise<void> => {
    await iam.send(new DeleteUserPolicyCommand(policy));
  };
  return {
    client: new EventBridgeClient({ endpoint, region: REGION, credentials }),
    forbid,
    async remove() {
      await iam.send(new DeleteAccessKeyCommand({ UserName: busName, AccessKeyId }));
      await iam.send(new DeleteUserCommand({ UserName: busName }));
    },
  };
};

describeBusContract("EventBridge, on an emulator", async () => {
  const busName = `skyhook-test-${randomUUID()}`;
  const { receive, remove } = await createBus(busName);
  const publisher = await createPublisher(busName);
  const client = refusingLargeEvents(publisher.client);
  const arrived: ArrivedEvent[] = [];
  let isForbidden = false;
  return {
    bus: createEventbridgeBus({ client, busName, source: "skyhook" }),
    async arrived() {
      arrived.push(...(await receive()));
      return arrived;
    },
    async breakDown() {
      isForbidden = true;
      await publisher.forbid();
      return /is not authorized to perform: events:PutEvents/;
    },
    async remove() {
      if (!isForbidden) await publisher.forbid();
      await publisher.remove();
      await remove();
    },
  };
});
