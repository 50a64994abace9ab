import type { LiftAnswer } from "../../admin/answers.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { type CommandFlags, openCommandAdmin, withAdminOptions } from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, visibleText } from "../render.ts";
import { addExamples, type DeclareVerb, ending, notEmpty, stageRights } from "../verb.ts";

const sentence = (account: string, answer: LiftAnswer): string => {
  const { commands } = answer;
  const waiting = `${commands} waiting command${commands === 1 ? " continues" : "s continue"}`;
  return answer.kind === "lifted"
    ? `${account}: the pause until ${answer.until} has ended; ${waiting}`
    : `${account} is not paused; ${waiting}`;
};

/** Ends the pause that the provider requested. @throws ExitError for an unknown account */
const liftPause = async (account: string, flags: CommandFlags, clock: Clock): Promise<ExitCode> => {
  const admin = await openCommandAdmin(flags, clock);
  const answer = await admin.liftPause(account);
  if (!answer) {
    const text = `no account ${visibleText(account)} found: no command was sent for it yet; check its name in accounts.yaml`;
    throw new ExitError(EXIT.refused, text);
  }
  printResult(flags.json ? jsonLine({ account, ...answer }) : sentence(account, answer));
  if (admin.followsLater !== undefined)
    printNote("the poller continues its commands within a minute");
  return EXIT.ok;
};

const DESCRIPTION = `Ends the pause that the provider requested for an account. Commands that wait for its end are sent at once; with --stage, within a minute.

${stageRights("dynamodb:GetItem and dynamodb:PutItem on the table skyhook-STAGE-ledger, and dynamodb:Query on its index due")}`;

export const declareLiftPause: DeclareVerb = (command, { clock }) => {
  command
    .description(DESCRIPTION)
    .argument("<account>", "name in accounts.yaml; `local` for a run without that file", notEmpty);
  addExamples(withAdminOptions(command), [
    "npx skyhook lift-pause local",
    "npx skyhook lift-pause main --stage prod",
  ]).action(ending((account: string, flags: CommandFlags) => liftPause(account, flags, clock)));
};
