import type { CancelAnswer } from "../../admin/answers.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import {
  type CommandAdmin,
  type CommandFlags,
  noSuchCommand,
  openCommandAdmin,
  STAGE_WRITE_RIGHTS,
  withAdminOptions,
} from "../admin/client.ts";
import { cancelExitCode, cancelText } from "../cancel-text.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { withFilterOptions } from "../list-filters.ts";
import { jsonLine, printNote, printResult } from "../render.ts";
import { addExamples, type DeclareVerb, ending, notEmpty, sameTargetFlags } from "../verb.ts";
import { type CancelManyFlags, cancelMany } from "./cancel-many.ts";

/** Time between two checks for the reply, which usually comes long before its time-out. */
const CHECK_MS = 1_000;

export interface CancelFlags extends CommandFlags {
  /** Longest wait for a request in flight. */
  readonly waitSeconds: string;
}

const secondsOf = (text: string): number => {
  const seconds = Number(text);
  if (/^\d{1,6}$/.test(text)) return seconds;
  throw new ExitError(EXIT.refused, "--wait-seconds: must be a whole number of seconds");
};

/** Repeats the cancellation until no request is in flight, or the time is over. */
const cancelWhenPossible = async (
  admin: CommandAdmin,
  commandId: string,
  clock: Clock,
  waitSeconds: number,
): Promise<CancelAnswer> => {
  const endsAt = clock.now() + waitSeconds * 1000;
  for (;;) {
    const answer = await admin.cancel(commandId);
    if (!answer) throw noSuchCommand(commandId);
    if (answer.kind !== "under-way" || clock.now() >= endsAt) return answer;
    await clock.sleep(Math.min(CHECK_MS, answer.waitMs, endsAt - clock.now()));
  }
};

/** Cancels a command. @throws ExitError for an unknown command */
export const cancel = async (
  commandId: string,
  flags: CancelFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const waitSeconds = secondsOf(flags.waitSeconds);
  const admin = await openCommandAdmin(flags, clock);
  const answer = await cancelWhenPossible(admin, commandId, clock, waitSeconds);
  const exitCode = cancelExitCode(answer);
  const text = cancelText(commandId, answer, sameTargetFlags(flags));
  if (flags.json) printResult(jsonLine({ commandId, ...answer }));
  else if (answer.kind === "stopped") printResult(text);
  else printNote(text);
  if (answer.kind === "stopped" && admin.followsLater !== undefined) {
    printNote(`${admin.followsLater} and releases its lane`);
  }
  return exitCode;
};

/** Longer than any request is in flight (see ATTEMPT_LEASE_MS). */
const DEFAULT_WAIT_SECONDS = "60";

const DESCRIPTION = `Cancels a command that has had no effect, and the commands that wait for it with --after. With filters instead of an id, it cancels every matching command.

If a request of the command got no reply, the command ends as failed with reason unknown-outcome, and nothing more is sent. While a request is in flight, cancel waits for its result.

A command that has started tasks cannot be cancelled: Skyhook follows the tasks to their end. A follow-task can always be cancelled. Its task continues at the provider, and no event reports the task's end.

With filters, cancel shows how many commands it would cancel, which it cannot cancel and why. It changes nothing without --yes. Commands accepted after --until, by default after the call began, are left alone. The exit status is 0 when every matching command that had not ended is cancelled.

With --stage, cancel writes to the ledger. The poller publishes the event and releases the lane within a minute; no metric counts the cancellation. ${STAGE_WRITE_RIGHTS} Filters need dynamodb:Query on the index list of the table instead of dynamodb:DescribeTable.`;

const NOT_WITH_ID = [
  "account",
  "operation",
  "resource",
  "status",
  "since",
  "until",
  "yes",
] as const;

type AnyCancelFlags = CancelFlags & CancelManyFlags;

export const declareCancel: DeclareVerb = (command, { clock }) => {
  addExamples(
    withAdminOptions(
      withFilterOptions(
        command
          .description(DESCRIPTION)
          .argument(
            "[command-id]",
            "id that `skyhook send` printed, or that --id gave it",
            notEmpty,
          ),
      ),
    ),
    [
      "npx skyhook cancel scale-1",
      "npx skyhook cancel scale-1 --stage prod",
      "npx skyhook cancel --status waiting --account production --since 1h",
    ],
  )
    .option("--yes", "cancel every command that matches the filters")
    .option("--wait-seconds <n>", "longest wait for a request in flight", DEFAULT_WAIT_SECONDS)
    .action(
      ending((id: string | undefined, flags: AnyCancelFlags) => {
        if (id === undefined) return cancelMany(flags, secondsOf(flags.waitSeconds), clock);
        const wrong = NOT_WITH_ID.find((name) => flags[name] !== undefined);
        if (wrong === undefined) return cancel(id, flags, clock);
        throw new ExitError(EXIT.refused, `--${wrong}: not with an id, which names one command`);
      }),
    );
};
