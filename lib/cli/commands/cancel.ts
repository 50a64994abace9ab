import type { CancelAnswer } from "../../admin/answers.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import {
  type CommandAdmin,
  type CommandFlags,
  noSuchCommand,
  openCommandAdmin,
  STAGE_WRITE_RIGHTS,
  sameTargetFlags,
  withCommandOptions,
} from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, shellWord, visibleText } from "../render.ts";
import { endText } from "../request-state.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

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

const sentence = (commandId: string, answer: CancelAnswer, flags: string): string => {
  switch (answer.kind) {
    case "stopped":
      if (answer.unfollowed) {
        const tasks = visibleText(answer.unfollowed.join(", "));
        return `${commandId} is cancelled: Skyhook no longer follows task ${tasks}, which continues at the provider`;
      }
      return answer.status === "cancelled"
        ? `${commandId} is cancelled; it had no effect`
        : [
            `${commandId} ended as ${endText(answer)}: an earlier request may have taken effect`,
            `  next: check the effect at the provider, then npx skyhook resolve ${shellWord(commandId)} --applied | --not-applied${flags}`,
          ].join("\n");
    case "under-way":
      return `${commandId} is not cancelled: a request is in flight; its result is known within ${Math.ceil(answer.waitMs / 1000)} s: try again then`;
    case "following":
      return `${commandId} cannot be cancelled: the provider works on task ${visibleText(answer.taskIds.join(", "))}, which Skyhook follows to its end`;
    case "ended":
      return `${commandId} has ended already: ${endText(answer)}`;
    default:
      return answer satisfies never;
  }
};

const exitCodeOf = (answer: CancelAnswer): ExitCode => {
  if (answer.kind === "under-way") return EXIT.timedOut;
  if (answer.kind !== "stopped") return EXIT.refused;
  return answer.status === "cancelled" ? EXIT.ok : EXIT.failed;
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
  const exitCode = exitCodeOf(answer);
  const text = sentence(commandId, answer, sameTargetFlags(flags));
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

const DESCRIPTION = `Cancels a command that has had no effect, and the commands that wait for it with --after.

If a request of the command got no reply, the command ends as failed with reason unknown-outcome, and nothing more is sent. While a request is in flight, cancel waits for its result.

A command that has started tasks cannot be cancelled: Skyhook follows the tasks to their end. A follow-task can always be cancelled. Its task continues at the provider, and no event reports the task's end.

With --stage, cancel writes to the ledger. The poller publishes the event and releases the lane within a minute; no metric counts the cancellation. ${STAGE_WRITE_RIGHTS}`;

export const declareCancel: DeclareVerb = (command, { clock }) => {
  addExamples(withCommandOptions(command.description(DESCRIPTION)), [
    "npx skyhook cancel scale-1",
    "npx skyhook cancel scale-1 --stage prod",
  ])
    .option("--wait-seconds <n>", "longest wait for a request in flight", DEFAULT_WAIT_SECONDS)
    .action(ending((id: string, flags: CancelFlags) => cancel(id, flags, clock)));
};
