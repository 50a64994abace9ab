import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import * as z from "zod";
import { parseJson } from "../../contract/json.ts";
import type { DeadLetter, DeadLetters, HeldDeadLetter } from "../ports/dead-letters.ts";
import type { Random } from "../ports/random.ts";
import { longPoll } from "./aws-client.ts";

/** Long enough to read ten dead letters and act on them; a crashed caller hides them no longer. */
const HOLD_SECONDS = 60;
/** Long polling: without it, SQS asks only some of its servers and may miss messages. */
const WAIT_SECONDS = 2;
const MOST_AT_ONCE = 10;

/**
 * Events in `intake-dead-letter`: those that a rule could not send to the queue of intake, and failed calls
 * of intake from rules of earlier versions.
 */

/** Message attribute with the ARN of the rule that could not deliver. */
const RULE_ATTRIBUTE = "RULE_ARN";

/** Lambda's record of a call that failed at every retry. Source: Lambda's developer guide. */
const invocationRecordSchema = z.looseObject({
  requestContext: z.looseObject({ functionArn: z.string() }),
  requestPayload: z.unknown(),
});

const callSchema = z.looseObject({ reaction: z.string(), event: z.looseObject({}) });

/**
 * Converts the body of an undelivered event to the body that a rule sends to the queue of intake.
 * @param reactionRules prefix of the names of reactions' rules
 * @param ruleArn ARN of the rule that could not deliver
 */
export const undeliveredCall = (
  reactionRules: string,
  body: string,
  ruleArn: string | undefined,
): string => {
  const json = parseJson(body);
  const record = invocationRecordSchema.safeParse(json).data;
  if (record) return JSON.stringify(record.requestPayload);
  const rule = ruleArn?.split("/").at(-1);
  // The body may be the original event, from before the target's template added the reaction.
  return rule?.startsWith(reactionRules) &&
    json !== undefined &&
    !callSchema.safeParse(json).success
    ? JSON.stringify({ reaction: rule.slice(reactionRules.length), event: json })
    : body;
};

export interface SqsDeadLettersOptions {
  readonly client: SQSClient;
  readonly random: Random;
  /** URL of the dead-letter queue. */
  readonly deadLetterUrl: string;
  /** Queue for a redrive: `commands` is a FIFO queue, `requests` a standard queue. */
  readonly queue: DeadLetter["queue"];
  readonly queueUrl: string;
  /**
   * For undelivered events: prefix of the names of reactions' rules, to convert a body to one that intake
   * reads. Absent: bodies need no conversion.
   */
  readonly reactionRules?: string;
}

const COUNTED = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;

/** The dead letters in an SQS dead-letter queue. */
export const createSqsDeadLetters = (options: SqsDeadLettersOptions): DeadLetters => {
  const { client, random, deadLetterUrl: QueueUrl, queue, queueUrl, reactionRules } = options;

  const toHeld = ({ Attributes = {}, ...message }: Message): HeldDeadLetter => {
    const { Body = "", MessageAttributes = {} } = message;
    const ruleArn = MessageAttributes[RULE_ATTRIBUTE]?.StringValue;
    return {
      messageId: message.MessageId ?? "",
      queue,
      hold: message.ReceiptHandle ?? "",
      body: reactionRules === undefined ? Body : undeliveredCall(reactionRules, Body, ruleArn),
      groupId: Attributes.MessageGroupId,
      arrivedAt: Number(Attributes.SentTimestamp),
      receiveCount: Number(Attributes.ApproximateReceiveCount),
    };
  };

  const remove = async ({ hold: ReceiptHandle }: HeldDeadLetter): Promise<void> => {
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  };

  return {
    async hold() {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: MOST_AT_ONCE,
          VisibilityTimeout: HOLD_SECONDS,
          WaitTimeSeconds: WAIT_SECONDS,
          MessageSystemAttributeNames: [
            "MessageGroupId",
            "SentTimestamp",
            "ApproximateReceiveCount",
          ],
          ...(reactionRules !== undefined && { MessageAttributeNames: [RULE_ATTRIBUTE] }),
        }),
        longPoll(WAIT_SECONDS * 1000),
      );
      return Messages.map(toHeld);
    },
    async release(letters) {
      for (const { hold: ReceiptHandle } of letters) {
        await client
          .send(
            new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
          )
          // The message was deleted, or stays hidden for a minute. Neither is an error.
          .catch(() => undefined);
      }
    },
    async count() {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...COUNTED] }),
      );
      return COUNTED.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
    },
    async sendBack(letter) {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: letter.body,
          ...(letter.groupId !== undefined && {
            MessageGroupId: letter.groupId,
            // A FIFO queue drops a message with an id of the last 5 minutes.
            MessageDeduplicationId: random.uuid(),
          }),
        }),
      );
      try {
        await remove(letter);
        return { kind: "sent-back" };
      } catch (error) {
        return { kind: "in-both", why: error instanceof Error ? error.name : "UnknownError" };
      }
    },
    async remove(letter) {
      await remove(letter);
      return "removed";
    },
  };
};
