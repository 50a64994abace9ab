import type { CommandMessage } from "../platform/ports/queue.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/** SQS takes 1 to 128 ASCII letters, digits and punctuation marks as a group or deduplication id. */
const ID = /^[!-~]{1,128}$/;

/** What SQS takes as a body: the characters that XML 1.0 allows, and at least one of them. */
const BODY = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;

/**
 * Why SQS would refuse the message; undefined when it would not.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
 */
export const refusalOfMessage = (message: CommandMessage): string | undefined => {
  if (!ID.test(message.groupId)) return "the group id is not 1 to 128 ASCII letters and marks";
  if (!ID.test(message.deduplicationId)) {
    return "the deduplication id is not 1 to 128 ASCII letters and marks";
  }
  if (!BODY.test(message.body)) return "the body is empty or has a character SQS does not take";
  if (Buffer.byteLength(message.body) > MAX_BODY_BYTES) return "the body is larger than 1 MiB";
  return undefined;
};
