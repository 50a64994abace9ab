import { type ResolveAnswer, type Verdict, verdictSchema } from "../admin/answers.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { type CommandDeskFlags, deskFlagsText, openCommandDesk } from "./open-desk.ts";
import { printNote, printResult } from "./output.ts";
import { shellWord } from "./shell-word.ts";
import { endText } from "./state-text.ts";
import { noSuchCommand } from "./status.ts";
import { jsonLine, visibleText } from "./visible-text.ts";

export interface ResolveFlags extends CommandDeskFlags {
  readonly applied?: boolean;
  readonly notApplied?: boolean;
  readonly note?: string;
}

/** @throws ExitError unless exactly one of the two is said, and the note is one */
const verdictOf = ({ applied = false, notApplied = false, note }: ResolveFlags): Verdict => {
  if (applied === notApplied) {
    throw new ExitError(EXIT.refused, "say what you have found: either --applied or --not-applied");
  }
  const verdict = verdictSchema.safeParse({ applied, ...(note !== undefined && { note }) });
  if (verdict.success) return verdict.data;
  throw new ExitError(EXIT.refused, "--note: 1 to 500 characters of plain text");
};

const effectText = (applied: boolean): string =>
  applied ? "it took effect" : "it did not take effect";

const sentence = (commandId: string, answer: ResolveAnswer, flags: string): string => {
  switch (answer.kind) {
    case "resolved":
      return `${commandId} is resolved: ${effectText(answer.applied)}`;
    case "resolved-otherwise": {
      const note = answer.note === undefined ? "" : ` (${answer.note})`;
      return visibleText(
        `${commandId} was resolved at ${answer.resolvedAt}: ${effectText(answer.applied)}${note}; that stays`,
      );
    }
    case "known":
      return `${commandId} cannot be resolved: it ended as ${endText(answer)}, and only an unknown-outcome can be`;
    case "open":
      return `${commandId} has not ended, it is ${answer.status}; see npx skyhook status ${shellWord(commandId)}${flags}`;
    default:
      return answer satisfies never;
  }
};

/** Keeps what a person found out about an unknown outcome. @throws ExitError when nobody knows it */
export const resolve = async (
  commandId: string,
  flags: ResolveFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const verdict = verdictOf(flags);
  const desk = await openCommandDesk(flags, clock);
  const answer = await desk.resolve(commandId, verdict);
  if (!answer) throw noSuchCommand(commandId);
  const isDone = answer.kind === "resolved";
  const text = sentence(commandId, answer, deskFlagsText(flags, process.env.SKYHOOK_ENDPOINT));
  if (flags.json) printResult(jsonLine({ commandId, ...answer }));
  else if (isDone) printResult(text);
  else printNote(text);
  if (isDone && desk.followsLater !== undefined) printNote(desk.followsLater);
  return isDone ? EXIT.ok : EXIT.refused;
};
