import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Clock } from "../ports/clock.ts";
import type { CommandQueue, Waker } from "../ports/queue.ts";

export interface SqsCommandQueueOptions {
  readonly client: SQSClient;
  /** A FIFO queue, deduplicating by the id that each message carries. */
  readonly queueUrl: string;
}

/** The command queue on SQS FIFO. */
export const createSqsCommandQueue = (options: SqsCommandQueueOptions): CommandQueue => ({
  async send({ body, groupId, deduplicationId }) {
    await options.client.send(
      new SendMessageCommand({
        QueueUrl: options.queueUrl,
        MessageBody: body,
        MessageGroupId: groupId,
        MessageDeduplicationId: deduplicationId,
      }),
    );
  },
});

/** SQS delays no message for longer. */
const LONGEST_DELAY_SECONDS = 900;

export interface SqsWakerOptions {
  readonly client: SQSClient;
  /** A standard queue: a FIFO queue takes no delay for one message. */
  readonly queueUrl: string;
  readonly clock: Clock;
}

/**
 * Wakes the poller by a delayed message whose body nobody reads. A wake further away than 15
 * minutes comes after 15 minutes; the poller's schedule has looked many times by then.
 */
export const createSqsWaker = ({ client, queueUrl, clock }: SqsWakerOptions): Waker => ({
  async wakeAt(at) {
    // Rounded up: a poller woken too early finds nothing due and would leave the item to the schedule.
    const delaySeconds = Math.ceil((at - clock.now()) / 1000);
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: "wake",
        DelaySeconds: Math.min(Math.max(delaySeconds, 0), LONGEST_DELAY_SECONDS),
      }),
    );
  },
});
