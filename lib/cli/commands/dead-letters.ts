import pc from "picocolors";
import type { DeadLetterList, Explanation } from "../../admin/answers.ts";
import { type DeadLetterFlags, openDeadLetterAdmin } from "../admin/client.ts";
import { EXIT } from "../exit-code.ts";
import { jsonLine, printResult, problemLines, visibleText } from "../render.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";
import {
  DEAD_LETTER_RIGHTS,
  declareDeleteOn,
  declareRedriveOn,
  withDeadLetterOptions,
} from "./dead-letter-actions.ts";

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
    `arrived: ${cameAt}, receives: ${receiveCount}, ${bytes} bytes${groupText}`,
    `diagnosis: ${deadLetter.diagnosis}, in the queue ${deadLetter.queue}`,
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

const LIST_DESCRIPTION = `Explains up to 100 dead letters: the message, the state of its command, the effect of a redrive, and the next step. Secrets are not shown. The arrival time of an event is when it was sent; of a command in SQS, when it became a dead letter.

In SQS, a listed message is hidden from other readers for up to a minute, and a group shows its next ten messages only after the first ten are gone. "About N more" counts those.`;

export const declareDeadLetters: DeclareVerb = (command, ports) => {
  addExamples(
    command.description(`Explains dead letters, sends them back or deletes them: messages that Skyhook could not process.

${DEAD_LETTER_RIGHTS}`),
    [
      "npx skyhook dead-letters",
      "npx skyhook dead-letters --stage prod --accounts accounts.yaml",
      "npx skyhook dead-letters delete ID --stage prod",
    ],
  );
  withDeadLetterOptions(command.command("list", { isDefault: true }))
    .summary("Explain each dead letter (default)")
    .description(LIST_DESCRIPTION)
    .action(
      ending(async (flags: DeadLetterFlags) => {
        const list = await (await openDeadLetterAdmin(flags, ports)).list();
        printResult(flags.json ? jsonLine(list) : deadLettersText(list));
        return EXIT.ok;
      }),
    );
  declareRedriveOn(command.command("redrive"), ports).summary("Send dead letters back");
  declareDeleteOn(command.command("delete"), ports).summary("Delete dead letters");
};

export const declareRedrive: DeclareVerb = (command, ports) => {
  declareRedriveOn(command, ports);
};
