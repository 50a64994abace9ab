/** A message that was received too often without success, or an event that no queue accepted. */
export interface DeadLetter {
  /** A message that was sent back and came again has another id. */
  readonly messageId: string;
  /** Where it goes back to: commands to run-commands, or events to intake. */
  readonly queue: "commands" | "requests";
  /** What is sent back. */
  readonly body: string;
  /** Undefined for an event: `requests` has no groups. */
  readonly groupId: string | undefined;
  /**
   * Epoch ms. On one machine and in a standard queue of SQS when it was sent; in a FIFO queue of SQS,
   * which counts anew, when it became a dead letter.
   */
  readonly arrivedAt: number;
  /** Counts the failed receives, and in SQS also the reads since. */
  readonly receiveCount: number;
}

/** A dead letter that no other caller is handed for about a minute. */
export interface HeldDeadLetter extends DeadLetter {
  /** Proves that we hold it. */
  readonly hold: string;
}

type SendingBack =
  | { readonly kind: "sent-back" }
  /** Another caller has taken it away meanwhile. */
  | { readonly kind: "gone" }
  /** It is in its queue, and still among the dead letters: an error's name says why. */
  | { readonly kind: "in-both"; readonly why: string };

/** The dead letters of one queue or of several. Rejects when the queue does not answer, or refuses. */
export interface DeadLetters {
  /**
   * Holds at most ten that are free. Of one group those that arrived first; while one of a group is
   * held, others of it may be kept back. An empty list: there are no more to be had now.
   */
  hold(): Promise<readonly HeldDeadLetter[]>;
  /** Frees them for others. Never rejects: one that could not be freed is free after the minute. */
  release(letters: readonly HeldDeadLetter[]): Promise<void>;
  /** About how many there are, held ones included. */
  count(): Promise<number>;
  /**
   * Puts it into its queue under a new id and in its group, and takes it from the dead
   * letters only when that is durable. A rejection or a crash may leave it in both: that is
   * harmless, because a command is known by its sender and id, and to go on twice is to go on once.
   */
  sendBack(letter: HeldDeadLetter): Promise<SendingBack>;
  remove(letter: HeldDeadLetter): Promise<"removed" | "gone">;
}
