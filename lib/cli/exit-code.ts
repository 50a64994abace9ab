/** The exit status of `skyhook`, for scripts. `EXIT_STATUSES` has their meanings. */
export const EXIT = {
  ok: 0,
  failed: 1,
  refused: 2,
  /** `thresholds plan --detailed-exitcode` found changes. Every error of that call is 1. */
  changes: 2,
  unreachable: 3,
  timedOut: 4,
  /** As of a program that SIGPIPE ends. */
  noReader: 141,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface ExitStatus {
  readonly status: ExitCode;
  /** One line for `skyhook --help`. */
  readonly meaning: string;
  /** Cases of single commands, for docs/reference/cli.md. */
  readonly cases: readonly string[];
}

/** The meaning of each exit status, for the help and docs/reference/cli.md. */
export const EXIT_STATUSES: readonly ExitStatus[] = [
  {
    status: EXIT.ok,
    meaning: "success",
    cases: [
      "`send` without `--wait`: the request is in the queue; Skyhook has accepted it or not answered yet",
    ],
  },
  {
    status: EXIT.failed,
    meaning: "the command, the job or the demo failed",
    cases: [
      "`send --wait`, `status`: the command ended as failed or cancelled",
      "`cancel`: the command ended as failed, because an earlier request of it may have taken effect",
      "`run`: the job failed, its file is invalid, or a threshold was not changed",
      "`start --exit`: a step of the demo did not end as expected",
      "`thresholds apply`: a threshold was not changed",
      "`read`, `thresholds`: the provider reported an error that may pass",
      "`deploy`: not confirmed, or CloudFormation refused or failed",
      "`redrive`, `dead-letters delete`: a dead letter could not be sent back or deleted",
      "`--detailed-exitcode`: any error",
    ],
  },
  {
    status: EXIT.refused,
    meaning: "wrong usage, wrong settings or a rejected request; a retry fails too",
    cases: [
      "`run`: the job is not configured",
      "`cancel`, `resolve`: the command's state does not allow it",
      "`redrive ID`, `dead-letters delete ID`: a dead letter was kept, or does not exist",
      "`thresholds plan --detailed-exitcode`: the plan has changes",
    ],
  },
  {
    status: EXIT.unreachable,
    meaning: "no Skyhook, provider or AWS API answers at the address",
    cases: [],
  },
  {
    status: EXIT.timedOut,
    meaning: "the time of --wait-seconds is over; the command continues",
    cases: [
      "`cancel`: a request of the command is still in flight",
      "`deploy`: interrupted; the deployment continues in AWS",
    ],
  },
  {
    status: EXIT.noReader,
    meaning: "the reader of the output has gone, as `head` does",
    cases: [],
  },
];

/** Ends the program with a message for the user and an exit status for scripts. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "ExitError";
    this.exitCode = exitCode;
  }
}
