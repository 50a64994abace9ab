import { type ResolveAnswer, type Verdict, verdictSchema } from "../../admin/answers.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import {
  type CommandFlags,
  noSuchCommand,
  openCommandAdmin,
  STAGE_WRITE_RIGHTS,
  withCommandOptions,
} from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, shellWord, visibleText } from "../render.ts";
import { endText } from "../request-state.ts";
import { addExamples, type DeclareVerb, ending, sameTargetFlags } from "../verb.ts";

interface ResolveFlags extends CommandFlags {
  readonly applied?: boolean;
  readonly notApplied?: boolean;
  readonly note?: string;
}

/** @throws ExitError unless exactly one of the two options is given, and the note is valid */
const verdictOf = ({ applied = false, notApplied = false, note }: ResolveFlags): Verdict => {
  if (applied === notApplied) {
    throw new ExitError(EXIT.refused, "resolve: needs either --applied or --not-applied");
  }
  const verdict = verdictSchema.safeParse({ applied, ...(note !== undefined && { note }) });
  if (verdict.success) return verdict.data;
  throw new ExitError(EXIT.refused, "--note: must be plain text of 1 to 500 characters");
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
        `${commandId} was resolved before, at ${answer.resolvedAt}: ${effectText(answer.applied)}${note}; a resolution is final`,
      );
    }
    case "known":
      return `${commandId} cannot be resolved: it ended as ${endText(answer)}, not as unknown-outcome`;
    case "open":
      return `${commandId} cannot be resolved: it has not ended (${answer.status}); state: npx skyhook status ${shellWord(commandId)}${flags}`;
    default:
      return answer satisfies never;
  }
};

/** Records the operator's verdict on an unknown outcome. @throws ExitError for an unknown command */
const resolve = async (commandId: string, flags: ResolveFlags, clock: Clock): Promise<ExitCode> => {
  const verdict = verdictOf(flags);
  const admin = await openCommandAdmin(flags, clock);
  const answer = await admin.resolve(commandId, verdict);
  if (!answer) throw noSuchCommand(commandId);
  const isDone = answer.kind === "resolved";
  const text = sentence(commandId, answer, sameTargetFlags(flags));
  if (flags.json) printResult(jsonLine({ commandId, ...answer }));
  else if (isDone) printResult(text);
  else printNote(text);
  if (isDone && admin.followsLater !== undefined) printNote(admin.followsLater);
  return isDone ? EXIT.ok : EXIT.refused;
};

const DESCRIPTION = `Records, once, whether the request of a command that ended as unknown-outcome took effect. Check the effect at the provider first, for example with \`skyhook read\`.

The command's reason stays unknown-outcome. Skyhook publishes the record and the note as CommandResolved. With --stage the event follows within a minute.

${STAGE_WRITE_RIGHTS}`;

export const declareResolve: DeclareVerb = (command, { clock }) => {
  addExamples(withCommandOptions(command.description(DESCRIPTION)), [
    'npx skyhook resolve router-1 --applied --note "router-7 exists"',
    "npx skyhook resolve router-1 --not-applied --stage prod",
  ])
    .option("--applied", "the request took effect")
    .option("--not-applied", "the request did not take effect")
    .option("--note <text>", "reason, published in the event; at most 500 characters, no secret")
    .action(ending((id: string, flags: ResolveFlags) => resolve(id, flags, clock)));
};
