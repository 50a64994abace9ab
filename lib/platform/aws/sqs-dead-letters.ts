import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { DeadLetter, DeadLetters, HeldDeadLetter } from "../ports/dead-letters.ts";
import type { Random } from "../ports/random.ts";
import { longPoll } from "./aws-client.ts";

/** Long enough to look at ten and to act on them; who dies meanwhile hides them no longer. */
const HOLD_SECONDS = 60;
/** Without waiting SQS asks some of its servers only, and may find nothing where there is something. */
const WAIT_SECONDS = 2;
const MOST_AT_ONCE = 10;

export interface SqsDeadLettersOptions {
  readonly client: SQSClient;
  readonly random: Random;
  /** Of the dead letters. */
  readonly deadLetterUrl: string;
  /** Where they are sent back to: that of commands is a FIFO queue, that of requests is not. */
  readonly queue: DeadLetter["queue"];
  readonly queueUrl: string;
  /** Turns an event that no queue took into what intake reads; absent: the body is that already. */
  readonly undelivered?: {
    readonly attribute: string;
    readonly toBody: (body: string, attribute: string | undefined) => string;
  };
}

const COUNTED = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;

/** The dead letters on SQS, in a queue of their own. */
export const createSqsDeadLetters = (options: SqsDeadLettersOptions): DeadLetters => {
  const { client, random, deadLetterUrl: QueueUrl, queue, queueUrl, undelivered } = options;

  const toHeld = ({ Attributes = {}, ...message }: Message): HeldDeadLetter => {
    const { Body = "", MessageAttributes = {} } = message;
    const attribute = undelivered && MessageAttributes[undelivered.attribute]?.StringValue;
    return {
      messageId: message.MessageId ?? "",
      queue,
      hold: message.ReceiptHandle ?? "",
      body: undelivered?.toBody(Body, attribute) ?? Body,
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
          ...(undelivered && { MessageAttributeNames: [undelivered.attribute] }),
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
