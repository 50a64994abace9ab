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
import type { AwsClients } from "./aws-clients.ts";

/** A queue as target of rules. */
export interface Tap {
  readonly name: string;
  readonly queueArn: string;
  /** Receives and deletes at most ten events. */
  receive(): Promise<readonly unknown[]>;
  remove(): Promise<void>;
}

/** Creates a tap. @param name of its queue */
export const createTap = async ({ sqs }: Pick<AwsClients, "sqs">, name: string): Promise<Tap> => {
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
  return {
    name,
    queueArn,
    async receive() {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      for (const { ReceiptHandle } of Messages) {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
      return Messages.map(({ Body = "" }): unknown => JSON.parse(Body));
    },
    async remove() {
      await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
};

/**
 * Sends the matching events of a bus to a tap, like to a subscriber.
 * @returns a function that removes the rule; CloudFormation cannot delete a bus with a rule of another origin
 */
export const tapBus = async (
  { eventBridge }: Pick<AwsClients, "eventBridge">,
  { name, queueArn }: Tap,
  busName: string,
  pattern: unknown,
): Promise<() => Promise<void>> => {
  const rule = { Rule: name, EventBusName: busName };
  const EventPattern = JSON.stringify(pattern);
  await eventBridge.send(new PutRuleCommand({ Name: name, EventBusName: busName, EventPattern }));
  await eventBridge.send(
    new PutTargetsCommand({ ...rule, Targets: [{ Id: "tap", Arn: queueArn }] }),
  );
  return async () => {
    await eventBridge.send(new RemoveTargetsCommand({ ...rule, Ids: ["tap"] }));
    await eventBridge.send(new DeleteRuleCommand({ Name: name, EventBusName: busName }));
  };
};
