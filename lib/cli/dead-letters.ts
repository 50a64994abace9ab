import type { DeadLetterOutcome } from "../admin/answers.ts";
import type { Selection } from "../admin/dead-letters.ts";
import type { DeadLetterDesk } from "./dead-letter-desk.ts";
import { deadLettersText, outcomesText } from "./dead-letter-text.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { printResult } from "./output.ts";
import { jsonLine } from "./visible-text.ts";

interface Output {
  readonly json?: boolean;
}

/** Prints every dead letter with what it is and what to do. @throws ExitError when nothing answers */
export const showDeadLetters = async (
  desk: DeadLetterDesk,
  { json }: Output,
): Promise<ExitCode> => {
  const list = await desk.list();
  printResult(json ? jsonLine(list) : deadLettersText(list));
  return EXIT.ok;
};

const FAILED: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["failed", "in-both"]);
const DONE: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["deleted", "sent-back"]);

/** @param asked whether each of them was named: then one that was kept is a refusal */
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

/** Sends dead letters back. @throws ExitError when nothing answers */
export const redrive = async (
  desk: DeadLetterDesk,
  selection: Selection,
  output: Output,
): Promise<ExitCode> => show(await desk.redrive(selection), output, selection.kind === "ids");

/** @throws ExitError when nothing answers */
export const removeDeadLetters = async (
  desk: DeadLetterDesk,
  ids: readonly string[],
  options: Output & { readonly force?: boolean },
): Promise<ExitCode> => show(await desk.remove(ids, options.force ?? false), options, true);
