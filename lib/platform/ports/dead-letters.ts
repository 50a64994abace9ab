/** A message with too many failed receives, or an event that EventBridge could not deliver to its queue. */
export interface DeadLetter {
  /** A redriven message that fails again has another id. */
  readonly messageId: string;
  /** Queue for a redrive: `commands` (read by run-commands) or `requests` (read by intake). */
  readonly queue: "commands" | "requests";
  /** Body that a redrive sends. */
  readonly body: string;
  /** Undefined for an event: `requests` has no groups. */
  readonly groupId: string | undefined;
  /**
   * Epoch ms. In a local run and in a standard SQS queue: the time of sending. In a FIFO SQS queue: the time at
   * which the message became a dead letter, because SQS resets its time of sending then.
   */
  readonly arrivedAt: number;
  /** Number of failed receives; in SQS it includes later reads of the dead letter. */
  readonly receiveCount: number;
}

/** A dead letter that is hidden from other callers for about a minute. */
export interface HeldDeadLetter extends DeadLetter {
  /** Proof of the hold. */
  readonly hold: string;
}

type SendingBack =
  | { readonly kind: "sent-back" }
  /** Another caller removed it meanwhile. */
  | { readonly kind: "gone" }
  /** The message is in its queue and still among the dead letters; `why` is the error's name. */
  | { readonly kind: "in-both"; readonly why: string };

/** The dead letters of one or several queues. Methods reject when the queue fails or refuses. */
export interface DeadLetters {
  /**
   * Holds at most ten free dead letters. Of one group, it takes the oldest first; while one of a group is
   * held, the others of the group may be unavailable. An empty list: none is available now.
   */
  hold(): Promise<readonly HeldDeadLetter[]>;
  /** Releases held dead letters. Never rejects: a failed release ends with the hold, after a minute. */
  release(letters: readonly HeldDeadLetter[]): Promise<void>;
  /** Approximate number of dead letters, held ones included. */
  count(): Promise<number>;
  /**
   * Redrives: sends the message to its queue under a new id, in its group, and removes the dead letter once
   * that is durable. After a rejection or a crash, the message may be in both. That is safe, because sender
   * and id identify a command, and handling it twice has the effect of handling it once.
   */
  sendBack(letter: HeldDeadLetter): Promise<SendingBack>;
  remove(letter: HeldDeadLetter): Promise<"removed" | "gone">;
}
