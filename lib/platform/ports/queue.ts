/**
 * One message for the command queue (SQS FIFO in the cloud). Both ids are 1 to 128 ASCII letters,
 * digits and punctuation marks; the body is 1 byte to 1 MiB, without U+FFFE, U+FFFF and the control
 * characters other than tab, line feed and carriage return.
 */
export interface CommandMessage {
  readonly body: string;
  /** Messages of one group are delivered in order, each after the previous one is handled. */
  readonly groupId: string;
  /** A message with an id of the last 5 minutes is dropped, even with another payload. */
  readonly deduplicationId: string;
}

export interface CommandQueue {
  /** Resolves when the message is durable. After a rejection it may or may not be in the queue. */
  send(message: CommandMessage): Promise<void>;
}

/** Requests a poller run before the next scheduled one. A lost wake signal only delays work. */
export interface Waker {
  /**
   * Requests a poller run at or soon after `at` (epoch ms). Resolves when the request is durable.
   * @param shard of the due index, which the run handles
   */
  wakeAt(at: number, shard: number): Promise<void>;
}
