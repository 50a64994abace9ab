import type { LiftAnswer } from "../admin/answers.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { type CommandDeskFlags, openCommandDesk } from "./open-desk.ts";
import { printNote, printResult } from "./output.ts";
import { jsonLine, visibleText } from "./visible-text.ts";

const sentence = (account: string, answer: LiftAnswer): string => {
  const { commands } = answer;
  const waiting = `${commands} waiting command${commands === 1 ? " goes" : "s go"} on`;
  return answer.kind === "lifted"
    ? `${account} may send again, its pause until ${answer.until} is lifted; ${waiting}`
    : `${account} is not paused; ${waiting}`;
};

/** Lets an account send again that the provider has asked to pause. @throws ExitError for no account */
export const liftPause = async (
  account: string,
  flags: CommandDeskFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const desk = await openCommandDesk(flags, clock);
  const answer = await desk.liftPause(account);
  if (!answer) {
    const text = `no account ${visibleText(account)} here, or it has sent nothing yet`;
    throw new ExitError(EXIT.refused, text);
  }
  printResult(flags.json ? jsonLine({ account, ...answer }) : sentence(account, answer));
  if (desk.followsLater !== undefined) printNote("commands and checks go on within a minute");
  return EXIT.ok;
};
