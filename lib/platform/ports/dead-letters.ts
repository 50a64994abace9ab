/** A message that was received too often without being settled, or an event that no queue took. */
export interface DeadLetter {
  /** Of this stay in the dead letters; a message that was sent back has another one. */
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
  readonly cameAt: number;
  /** By those that failed at it, and in SQS also by those that have looked at it since. */
  readonly receiveCount: number;
}

/** A dead letter that nobody else is handed for about a minute. */
export interface HeldLetter extends DeadLetter {
  /** What shows that it is held by us. */
  readonly hold: string;
}

type SendingBack =
  | { readonly kind: "sent-back" }
  /** Somebody else has taken it away meanwhile. */
  | { readonly kind: "gone" }
  /** It is in its queue, and still among the dead letters: an error's name says why. */
  | { readonly kind: "in-both"; readonly why: string };

/** The dead letters of one queue or of several. Rejects when the queue does not answer, or refuses. */
export interface DeadLetters {
  /**
   * Some that nobody holds, at most ten, and holds them. Of one group those that came first; while
   * one of a group is held, others of it may be kept back. None: there are no more to be had now.
   */
  hold(): Promise<readonly HeldLetter[]>;
  /** Lets others have them again. Never rejects: what could not be let go is free after the minute. */
  letGo(letters: readonly HeldLetter[]): Promise<void>;
  /** How many there are about, held ones included. */
  count(): Promise<number>;
  /**
   * Puts it into its queue under a new id and in its group, and takes it from the dead
   * letters only when that is durable. A rejection or a crash may leave it in both: that is
   * harmless, because a command is known by its sender and id, and to go on twice is to go on once.
   */
  sendBack(letter: HeldLetter): Promise<SendingBack>;
  remove(letter: HeldLetter): Promise<"removed" | "gone">;
}
