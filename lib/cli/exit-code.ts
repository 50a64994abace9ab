/** What the exit status of `skyhook` tells a script. */
export const EXIT = {
  /** Done as asked. */
  ok: 0,
  /** The command ended as failed or cancelled, or the demo not as expected. */
  failed: 1,
  /** Wrong usage, wrong settings, or a request that was rejected: the same again fails again. */
  refused: 2,
  /** Of `thresholds plan --detailed-exitcode`: something would change. Every error is 1 there. */
  changes: 2,
  /** Nothing answers at the given address: no running Skyhook, no provider. */
  unreachable: 3,
  /** Waiting took longer than `--wait-seconds`; the command goes on. */
  timedOut: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the program with a message for people and a status for scripts. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "ExitError";
    this.exitCode = exitCode;
  }
}
