import pc from "picocolors";
import type { DeadLetterList, DeadLetterOutcome, Explanation } from "../admin/answers.ts";
import { problemLines } from "./output.ts";
import { visibleText } from "./visible-text.ts";

const ADVICE: Readonly<Record<Explanation["advice"], (id: string) => string>> = {
  redrive: (id) => `npx skyhook redrive ${id}`,
  delete: (id) => `npx skyhook dead-letters delete ${id}`,
  mend: () => "mend first what it says here",
};

const commandLine = (letter: Explanation): readonly string[] => {
  const { sender, commandId, operation, lane } = letter;
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

const explanationText = (letter: Explanation): string => {
  const { messageId, cameAt, receiveCount, bytes, content } = letter;
  const groupText = letter.groupId === undefined ? "" : `, group ${letter.groupId}`;
  const lines = [
    `what: ${letter.what}`,
    `came: ${cameAt}, received ${receiveCount} times, ${bytes} bytes${groupText}`,
    ...commandLine(letter),
    `now: ${letter.standing}`,
    ...refusalLines(letter),
    ...(content === undefined ? [] : [`content: ${JSON.stringify(content)}`]),
    `redrive: ${letter.redrive}`,
    `do: ${ADVICE[letter.advice](messageId)}`,
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

/** What was done with each, a line each. */
export const outcomesText = (outcomes: readonly DeadLetterOutcome[]): string =>
  outcomes.length === 0 ? "no dead letters" : outcomes.map(outcomeText).join("\n");
