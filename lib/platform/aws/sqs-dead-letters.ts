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
import type { DeadLetter, DeadLetters, HeldDeadLetter } from "../ports/dead-letters.ts";
import type { Random } from "../ports/random.ts";
import { longPoll } from "./aws-client.ts";

/** Long enough to read ten and to act on them; a caller that dies hides them no longer. */
const HOLD_SECONDS = 60;
/** Without waiting SQS asks some of its servers only, and may find nothing where there is something. */
const WAIT_SECONDS = 2;
const MOST_AT_ONCE = 10;

/**
 * Events in `intake-dead-letter`: those that a rule could not put into the queue of intake, and those
 * that intake failed at while rules still called it.
 */

/** The attribute in which EventBridge names the rule that could not deliver. */
const RULE_ATTRIBUTE = "RULE_ARN";

/** What Lambda writes of a call that failed at every retry. Source: Lambda's developer guide. */
const invocationRecordSchema = z.looseObject({
  requestContext: z.looseObject({ functionArn: z.string() }),
  requestPayload: z.unknown(),
});

const callSchema = z.looseObject({ reaction: z.string(), event: z.looseObject({}) });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Makes the body of such a message what a rule would have put into the queue of intake.
 * @param reactionRules with which the names of the rules of reactions begin
 * @param ruleArn of the rule that could not deliver
 */
export const undeliveredCall = (
  reactionRules: string,
  body: string,
  ruleArn: string | undefined,
): string => {
  const json = parse(body);
  const record = invocationRecordSchema.safeParse(json).data;
  if (record) return JSON.stringify(record.requestPayload);
  const rule = ruleArn?.split("/").at(-1);
  // EventBridge may keep the event as it was, before its target's template named the reaction.
  return rule?.startsWith(reactionRules) &&
    json !== undefined &&
    !callSchema.safeParse(json).success
    ? JSON.stringify({ reaction: rule.slice(reactionRules.length), event: json })
    : body;
};

export interface SqsDeadLettersOptions {
  readonly client: SQSClient;
  readonly random: Random;
  /** Of the dead letters. */
  readonly deadLetterUrl: string;
  /** Where they are sent back to: that of commands is a FIFO queue, that of requests is not. */
  readonly queue: DeadLetter["queue"];
  readonly queueUrl: string;
  /**
   * For events that no queue took: the prefix of the names of reactions' rules, by which a body is made
   * what intake reads. Absent: the body is that already.
   */
  readonly reactionRules?: string;
}

const COUNTED = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;

/** The dead letters on SQS, in a queue of their own. */
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
          // It is gone, or hidden for a minute yet: neither is worth failing for.
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
            // A FIFO queue drops an id that it saw in the last 5 minutes.
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
