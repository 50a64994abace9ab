import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Clock } from "../ports/clock.ts";
import type { CommandQueue, Waker } from "../ports/queue.ts";

export interface SqsCommandQueueOptions {
  readonly client: SQSClient;
  /** URL of a FIFO queue that deduplicates by the id in each message. */
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

/** Maximum delay of a message in SQS. */
const LONGEST_DELAY_SECONDS = 900;

export interface SqsWakerOptions {
  readonly client: SQSClient;
  /** URL of a standard queue, because a FIFO queue has no delay for single messages. */
  readonly queueUrl: string;
  readonly clock: Clock;
}

/**
 * Wakes the poller of a shard by a delayed message with the number of the shard. A wake signal for more than 15 minutes
 * ahead arrives after 15 minutes. By then, the schedule has run the poller many times.
 */
export const createSqsWaker = ({ client, queueUrl, clock }: SqsWakerOptions): Waker => ({
  async wakeAt(at, shard) {
    // Rounded up: a poller that runs too early finds nothing due and leaves the item to the schedule.
    const delaySeconds = Math.ceil((at - clock.now()) / 1000);
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: String(shard),
        DelaySeconds: Math.min(Math.max(delaySeconds, 0), LONGEST_DELAY_SECONDS),
      }),
    );
  },
});
