import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { CommandQueue } from "../ports/queue.ts";

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
