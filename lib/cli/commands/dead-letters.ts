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
import { addExamples, type DeclareVerb, ending, stageRights } from "../verb.ts";

const ADVICE: Readonly<Record<Explanation["advice"], (id: string) => string>> = {
  redrive: (id) => `npx skyhook redrive ${id}`,
  delete: (id) => `npx skyhook dead-letters delete ${id}`,
  mend: () => "remove the cause first, then redrive",
};

const commandLine = (deadLetter: Explanation): readonly string[] => {
  const { sender, commandId, operation, lane } = deadLetter;
  if (sender === undefined) return [];
  const parts = [
    operation,
    commandId ?? "without an id",
    `from ${sender}`,
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
    `message: ${deadLetter.what}`,
    `arrived: ${cameAt}, received ${receiveCount} times, ${bytes} bytes${groupText}`,
    ...commandLine(deadLetter),
    `command now: ${deadLetter.standing}`,
    ...refusalLines(deadLetter),
    ...(content === undefined ? [] : [`content: ${JSON.stringify(content)}`]),
    `redrive: ${deadLetter.redrive}`,
    `next: ${ADVICE[deadLetter.advice](messageId)}`,
  ];
  return [pc.bold(visibleText(messageId)), ...lines.map((line) => `  ${visibleText(line)}`)].join(
    "\n",
  );
};

const MORE_WHY =
  "above the limit of 100, behind these in their groups, or held by another reader for up to a minute";

/** A paragraph for each dead letter. */
export const deadLettersText = ({ deadLetters, more }: DeadLetterList): string => {
  if (deadLetters.length === 0 && more === 0) return "no dead letters";
  const rest = more === 0 ? [] : [`about ${more} more: ${MORE_WHY}`];
  return [...deadLetters.map(explanationText), ...rest].join("\n\n");
};

const OUTCOMES: Readonly<Record<DeadLetterOutcome["outcome"], string>> = {
  "sent-back": "sent back",
  "in-both": "sent back, but still a dead letter; delete it",
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

/** A line for each dead letter. */
const outcomesText = (outcomes: readonly DeadLetterOutcome[]): string =>
  outcomes.length === 0 ? "no dead letters" : outcomes.map(outcomeText).join("\n");

interface Output {
  readonly json?: boolean;
}

const FAILED: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["failed", "in-both"]);
const DONE: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["deleted", "sent-back"]);

/** @param isEachNamed whether the user named each id, so that a kept dead letter is a refusal */
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
    "with --stage: accounts file of the stage, to check rights (default: not checked)",
  );

const STAGE_RIGHTS = stageRights(
  "sqs:GetQueueUrl on five queues (commands.fifo, requests and the three dead-letter queues); sqs:GetQueueAttributes, ReceiveMessage and ChangeMessageVisibility on the dead-letter queues; dynamodb:GetItem on the table skyhook-STAGE-ledger; to change anything also sqs:DeleteMessage on the dead-letter queues and sqs:SendMessage on the other two. Without ssm:GetParameter on /skyhook/STAGE/fingerprint-key it does not check seals or compare payloads",
);

const LIST_DESCRIPTION = `Explains up to 100 dead letters: the message, the state of its command, the effect of a redrive, and the next step. Secrets are not shown. The arrival time of an event is when it was sent; of a command in SQS, when it became a dead letter.

In SQS, a listed message is hidden from other readers for up to a minute, and a group shows its next ten messages only after the first ten are gone. "About N more" counts those.`;

const DELETE_DESCRIPTION = `Deletes dead letters whose command is in the ledger, or that can have no effect. A request that never became a command is kept, unless --force is given.

${STAGE_RIGHTS}`;

export const declareDeadLetters: DeclareVerb = (command, ports) => {
  addExamples(
    command.description(`Explains dead letters, or deletes them: messages that Skyhook could not process.

${STAGE_RIGHTS}`),
    [
      "npx skyhook dead-letters",
      "npx skyhook dead-letters --stage prod --accounts accounts.yaml",
      "npx skyhook dead-letters delete ID --stage prod",
    ],
  );
  withOptions(command.command("list", { isDefault: true }))
    .summary("Explain each dead letter (default)")
    .description(LIST_DESCRIPTION)
    .action(
      ending(async (flags: DeadLetterFlags) => {
        const list = await (await openDeadLetterAdmin(flags, ports)).list();
        printResult(flags.json ? jsonLine(list) : deadLettersText(list));
        return EXIT.ok;
      }),
    );
  withOptions(command.command("delete"))
    .summary("Delete dead letters by id")
    .description(DELETE_DESCRIPTION)
    .argument("<id...>", "ids that `skyhook dead-letters` prints")
    .option("--force", "also delete requests that never became a command; they are lost")
    .action(
      ending(async (ids: string[], flags: DeadLetterFlags & { readonly force?: boolean }) => {
        const admin = await openDeadLetterAdmin(flags, ports);
        return show(await admin.remove(ids, flags.force ?? false), flags, true);
      }),
    );
};

const REDRIVE_DESCRIPTION = `Sends dead letters back to their queues. --all sends those that \`skyhook dead-letters\` recommends to redrive, and prints why it keeps the others.

A redrive is idempotent: a command has a sender and an id, and Skyhook runs it once. A message is sent first and then deleted, so an interrupted redrive can leave it in both queues. Only a request without metadata.time that is older than 30 days is never sent back, because the ledger may have forgotten its command.

${STAGE_RIGHTS}`;

export const declareRedrive: DeclareVerb = (command, ports) => {
  addExamples(withOptions(command.description(REDRIVE_DESCRIPTION)), [
    "npx skyhook redrive --all --stage prod --accounts accounts.yaml",
    "npx skyhook redrive ID",
  ])
    .argument("[id...]", "ids that `skyhook dead-letters` prints")
    .option("--all", "redrive every recommended dead letter")
    .action(
      ending(async (ids: string[], flags: DeadLetterFlags & { readonly all?: boolean }) => {
        if (ids.length > 0 === (flags.all ?? false)) {
          throw new ExitError(
            EXIT.refused,
            "redrive: needs either ids or --all; `npx skyhook dead-letters` prints the ids",
          );
        }
        const admin = await openDeadLetterAdmin(flags, ports);
        return redrive(admin, flags.all ? { kind: "all" } : { kind: "ids", ids }, flags);
      }),
    );
};
