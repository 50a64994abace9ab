import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteRuleCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { createEventLog, type EventLog } from "../scenarios/event-log.ts";
import { publishedSchema } from "../scenarios/stage.ts";
import type { AwsClients } from "./aws-clients.ts";

/** A queue that rules can put events into, and what has come out of it. */
export interface EventTap {
  readonly name: string;
  readonly queueArn: string;
  readonly events: EventLog;
  close(): Promise<void>;
}

const LOOK_MS = 100;

/** @param limitMs see `createEventLog` */
export const openEventTap = async (
  { sqs }: Pick<AwsClients, "sqs">,
  name: string,
  limitMs: number,
): Promise<EventTap> => {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] }),
  );
  const queueArn = String(Attributes?.QueueArn);
  const statement = {
    Effect: "Allow",
    Principal: { Service: "events.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: queueArn,
  };
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { Policy } }));
  const events = createEventLog(limitMs);
  let isOpen = true;
  const receiveOnce = async (): Promise<number> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { Body = "", ReceiptHandle } of Messages) {
      events.add(publishedSchema.parse(JSON.parse(Body)));
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return Messages.length;
  };
  const receiving = (async () => {
    while (isOpen) if ((await receiveOnce()) === 0) await sleep(LOOK_MS);
  })();
  return {
    name,
    queueArn,
    events,
    async close() {
      isOpen = false;
      await receiving;
      await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
};

/** Whose events on which bus. */
export interface TappedBus {
  readonly busName: string;
  readonly source: string;
  readonly awsAccount: string;
}

/**
 * Sends everything that we publish on a bus into a tap, as a subscriber of ours would have it.
 * @returns what ends that again; a bus with a rule that is not the stack's cannot be removed
 */
export const tapBus = async (
  { eventBridge }: Pick<AwsClients, "eventBridge">,
  { busName, source, awsAccount }: TappedBus,
  { name, queueArn }: EventTap,
): Promise<() => Promise<void>> => {
  const rule = { Rule: name, EventBusName: busName };
  const EventPattern = JSON.stringify({ source: [source], account: [awsAccount] });
  await eventBridge.send(new PutRuleCommand({ Name: name, EventBusName: busName, EventPattern }));
  await eventBridge.send(
    new PutTargetsCommand({ ...rule, Targets: [{ Id: "tap", Arn: queueArn }] }),
  );
  return async () => {
    await eventBridge.send(new RemoveTargetsCommand({ ...rule, Ids: ["tap"] }));
    await eventBridge.send(new DeleteRuleCommand({ Name: name, EventBusName: busName }));
  };
};
