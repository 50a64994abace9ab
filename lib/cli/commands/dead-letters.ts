import type { Command } from "commander";
import pc from "picocolors";
import type { DeadLetterList, DeadLetterOutcome, Explanation } from "../../admin/answers.ts";
import type { Selection } from "../../admin/dead-letters.ts";
import {
  type DeadLetterAdmin,
  type DeadLetterFlags,
  openDeadLetterAdmin,
  withAdminOptions,
} from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printResult, problemLines, visibleText } from "../render.ts";
import { type DeclareVerb, ending } from "../verb.ts";

const ADVICE: Readonly<Record<Explanation["advice"], (id: string) => string>> = {
  redrive: (id) => `npx skyhook redrive ${id}`,
  delete: (id) => `npx skyhook dead-letters delete ${id}`,
  mend: () => "mend first what it says here",
};

const commandLine = (deadLetter: Explanation): readonly string[] => {
  const { sender, commandId, operation, lane } = deadLetter;
  if (sender === undefined) return [];
  const parts = [
    operation,
    commandId ?? "without an id",
    `of ${sender}`,
    lane === undefined ? undefined : `in lane ${lane}`,
  ];
  return [`command: ${parts.filter((part) => part !== undefined).join(" ")}`];
};

const refusalLines = ({ reason, problems = [] }: Explanation): readonly string[] =>
  reason === undefined ? [] : [`would be rejected: ${reason}`, ...problemLines(problems)];

const explanationText = (deadLetter: Explanation): string => {
  const { messageId, cameAt, receiveCount, bytes, content } = deadLetter;
  const groupText = deadLetter.groupId === undefined ? "" : `, group ${deadLetter.groupId}`;
  const lines = [
    `what: ${deadLetter.what}`,
    `came: ${cameAt}, received ${receiveCount} times, ${bytes} bytes${groupText}`,
    ...commandLine(deadLetter),
    `now: ${deadLetter.standing}`,
    ...refusalLines(deadLetter),
    ...(content === undefined ? [] : [`content: ${JSON.stringify(content)}`]),
    `redrive: ${deadLetter.redrive}`,
    `do: ${ADVICE[deadLetter.advice](messageId)}`,
  ];
  return [pc.bold(visibleText(messageId)), ...lines.map((line) => `  ${visibleText(line)}`)].join(
    "\n",
  );
};

const MORE_WHY =
  "beyond a hundred, behind these in their groups, or looked at by somebody else at this moment";

/** Every dead letter in a few lines. */
export const deadLettersText = ({ deadLetters, more }: DeadLetterList): string => {
  if (deadLetters.length === 0 && more === 0) return "no dead letters";
  const rest = more === 0 ? [] : [`about ${more} more: ${MORE_WHY}`];
  return [...deadLetters.map(explanationText), ...rest].join("\n\n");
};

const OUTCOMES: Readonly<Record<DeadLetterOutcome["outcome"], string>> = {
  "sent-back": "sent back",
  "in-both": "sent back, and could not be taken from the dead letters; delete it",
  deleted: "deleted",
  kept: "kept",
  "not-found": "not found",
  failed: "failed",
};

const outcomeText = ({ messageId, outcome, what, why }: DeadLetterOutcome): string =>
  visibleText(
    [
      `${messageId} ${OUTCOMES[outcome]}`,
      what === undefined ? "" : `: ${what}`,
      why === undefined ? "" : ` (${why})`,
    ].join(""),
  );

/** A line for each. */
const outcomesText = (outcomes: readonly DeadLetterOutcome[]): string =>
  outcomes.length === 0 ? "no dead letters" : outcomes.map(outcomeText).join("\n");

interface Output {
  readonly json?: boolean;
}

const FAILED: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["failed", "in-both"]);
const DONE: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["deleted", "sent-back"]);

/** @param isEachNamed whether the person named each of them: one that was kept is a refusal then */
const exitCodeOf = (outcomes: readonly DeadLetterOutcome[], isEachNamed: boolean): ExitCode => {
  if (outcomes.some(({ outcome }) => FAILED.has(outcome))) return EXIT.failed;
  const isDone = outcomes.every(({ outcome }) => DONE.has(outcome));
  return isDone || !isEachNamed ? EXIT.ok : EXIT.refused;
};

const show = (
  outcomes: readonly DeadLetterOutcome[],
  { json }: Output,
  isEachNamed: boolean,
): ExitCode => {
  printResult(json ? jsonLine(outcomes) : outcomesText(outcomes));
  return exitCodeOf(outcomes, isEachNamed);
};

export const redrive = async (
  admin: DeadLetterAdmin,
  selection: Selection,
  output: Output,
): Promise<ExitCode> => show(await admin.redrive(selection), output, selection.kind === "ids");

const withOptions = (command: Command): Command =>
  withAdminOptions(command).option(
    "--accounts <file>",
    "who may do what in that stage (default: rights are not checked)",
  );

export const declareDeadLetters: DeclareVerb = (command, ports) => {
  withOptions(command.command("list", { isDefault: true }))
    .description("explain each of them")
    .action(
      ending(async (flags: DeadLetterFlags) => {
        const list = await (await openDeadLetterAdmin(flags, ports)).list();
        printResult(flags.json ? jsonLine(list) : deadLettersText(list));
        return EXIT.ok;
      }),
    );
  withOptions(command.command("delete"))
    .description("delete those that are done, or of which nothing can come")
    .argument("<id...>", "as `skyhook dead-letters` shows them")
    .option("--force", "also requests that nobody has accepted: they are lost")
    .action(
      ending(async (ids: string[], flags: DeadLetterFlags & { readonly force?: boolean }) => {
        const admin = await openDeadLetterAdmin(flags, ports);
        return show(await admin.remove(ids, flags.force ?? false), flags, true);
      }),
    );
};

export const declareRedrive: DeclareVerb = (command, ports) => {
  withOptions(command)
    .argument("[id...]", "as `skyhook dead-letters` shows them")
    .option("--all", "every one for which that makes sense")
    .action(
      ending(async (ids: string[], flags: DeadLetterFlags & { readonly all?: boolean }) => {
        if (ids.length > 0 === (flags.all ?? false)) {
          throw new ExitError(EXIT.refused, "redrive: give ids, or --all");
        }
        const admin = await openDeadLetterAdmin(flags, ports);
        return redrive(admin, flags.all ? { kind: "all" } : { kind: "ids", ids }, flags);
      }),
    );
};
