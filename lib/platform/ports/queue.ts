/**
 * One message for the command queue (SQS FIFO in the cloud). Both ids are 1 to 128 ASCII letters,
 * digits and punctuation marks; the body is 1 byte to 1 MiB, without U+FFFE, U+FFFF and the control
 * characters other than tab, line feed and carriage return.
 */
export interface CommandMessage {
  readonly body: string;
  /** Messages of one group are handed out in order, the next only when the former is handled. */
  readonly groupId: string;
  /** A message whose id was seen in the last 5 minutes is dropped, another payload included. */
  readonly deduplicationId: string;
}

export interface CommandQueue {
  /** Resolves when the message is durable. A rejection means that it may or may not have arrived. */
  send(message: CommandMessage): Promise<void>;
}

/** Asks for a run of the poller before its next scheduled one. A lost wake costs time, never truth. */
export interface Waker {
  /** A poller run starts at or soon after `at` (epoch ms); resolves when the request is durable. */
  wakeAt(at: number): Promise<void>;
}
