import { LOCAL_SENDER } from "../local/aws-events.ts";
import { type BusEvent, stampEvent } from "../local/local-bus.ts";
import { checkPut } from "../local/put-request.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { type Made, madeOf } from "./made-command.ts";
import { madeText } from "./made-command-text.ts";
import { printNote, printResult } from "./output.ts";
import { plainReply } from "./plain-reply.ts";
import type { ReactionFiles } from "./reaction-files.ts";
import { type FileFlags, readEvent, readReactionFiles } from "./reaction-files.ts";
import { visibleText } from "./visible-text.ts";

/** Options of `reactions test`. */
export interface TestFlags extends FileFlags {
  readonly reactions?: string;
  readonly own?: string;
  readonly json?: boolean;
}

const noteMissingAccounts = ({ accounts }: ReactionFiles): void => {
  if (!accounts) printNote("accounts are not looked at: there is no accounts.yaml here");
};

/** Lists the rules of a file. @throws ExitError naming every mistake with its line */
export const checkReactions = async (
  file: string | undefined,
  flags: FileFlags,
): Promise<ExitCode> => {
  const files = readReactionFiles(file, flags);
  const { reactions } = files;
  noteMissingAccounts(files);
  const count = reactions.length === 1 ? "1 rule" : `${reactions.length} rules`;
  const rows = reactions.map(
    ({ name, operation, account = "(the only one)" }) =>
      `  ${name}: ${operation.id}, account ${visibleText(account)}`,
  );
  printResult([`${count}, no mistake`, ...rows].join("\n"));
  return EXIT.ok;
};

/** Whether something would run; the rest is refused by somebody on the way. */
const exitCodeOf = (made: Made): ExitCode =>
  made.kind === "command" && made.access !== "refused" ? EXIT.ok : EXIT.refused;

/** Without values that a command must not show. */
const toJson = (rule: string, made: Made): string =>
  JSON.stringify({
    rule,
    ...made,
    ...("command" in made && { command: plainReply(made.command) }),
  });

const checkedOwn = (own: string | undefined): string | undefined => {
  if (own === undefined || /^\d{12}$/.test(own)) return own;
  throw new ExitError(EXIT.refused, "--own: an AWS account id, such as 111122223333");
};

/** What put-event adds to an event that lacks it, and reactions look at. */
const STAMPS = ["id", "account", "time"] as const;

/** The event as the bus delivers it after put-event. @throws ExitError for one that put-event refuses */
const readPutEvent = (
  file: string,
  account: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): { readonly event: BusEvent; readonly filledIn: readonly string[] } => {
  const put = checkPut(readEvent(file));
  if (put.kind === "invalid") {
    const name = file === "-" ? "standard input" : file;
    const lines = put.problems.map(({ path, rule }) =>
      visibleText([name, path, rule].filter((part) => part !== "").join(": ")),
    );
    throw new ExitError(EXIT.refused, lines.join("\n"));
  }
  const event = stampEvent(put.event, { id: random.uuid(), account, at: clock.now() });
  return { event, filledIn: STAMPS.filter((name) => put.event[name] === undefined) };
};

/**
 * Shows the command that a rule makes of an event, or why there is none.
 * @param eventFile `-` for standard input
 * @throws ExitError when a file cannot be read, or there is no such rule
 */
export const testReaction = async (
  name: string,
  eventFile: string,
  flags: TestFlags,
  ports: { readonly clock: Clock; readonly random: Random },
): Promise<ExitCode> => {
  const ownSender = checkedOwn(flags.own);
  const files = readReactionFiles(flags.reactions, flags);
  const reaction = files.reactions.find((each) => each.name === name);
  if (!reaction) {
    const names = files.reactions.map((each) => each.name).join(", ") || "none";
    throw new ExitError(EXIT.refused, `no rule ${visibleText(name)}; there are: ${names}`);
  }
  const { event, filledIn } = readPutEvent(eventFile, ownSender ?? LOCAL_SENDER, ports);
  noteMissingAccounts(files);
  if (filledIn.length > 0) printNote(`filled in, as put-event does: ${filledIn.join(", ")}`);
  // An event without an account is put by the AWS account that Skyhook runs in.
  const own = filledIn.includes("account") ? event.account : ownSender;
  const made = madeOf(reaction, { ...event }, { accounts: files.accounts, ownSender: own });
  printResult(flags.json ? toJson(name, made) : madeText(made, event.account));
  return exitCodeOf(made);
};
