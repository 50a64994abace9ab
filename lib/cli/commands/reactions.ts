import type { Command } from "commander";
import { type Problem, problemsOf } from "../../contract/problem.ts";
import { checkRequest } from "../../engine/read-request.ts";
import { nameProblems, sizeProblems } from "../../engine/request.ts";
import type { CommandRequestBody } from "../../engine/request-body.ts";
import { guardSchema } from "../../events/requests.ts";
import { matchesPattern, mismatchedFields } from "../../intake/event-patterns/pattern.ts";
import { commandOf, type Reaction, type RequestDetail } from "../../intake/reaction.ts";
import type { BusEvent } from "../../local/local-bus.ts";
import { LOCAL_SENDER } from "../../local/local-sender.ts";
import { checkPut } from "../../local/put-request.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { createAccess } from "../../provider/access.ts";
import type { AccountsConfig } from "../../provider/accounts-config.ts";
import {
  type FileFlags,
  type ReactionFiles,
  readEvent,
  readReactionFiles,
} from "../config-files.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { printNote, printResult, problemLines, visibleText } from "../render.ts";
import { plainReply } from "../reply-text.ts";
import { addExamples, type DeclareVerb, ending, type Ports } from "../verb.ts";

/** Whether the event's AWS account may run the command; `if-own`: only if Skyhook runs in that account. */
type SenderAccess = "allowed" | "if-own" | "refused";

/** The outcome of a rule for an event. */
type Result =
  /** `unfit`: fields of the pattern that the event does not match. */
  | { readonly kind: "no-match"; readonly unfit: readonly string[] }
  /** The event lacks fields that the command needs; paths lead into the event. */
  | { readonly kind: "incomplete"; readonly problems: readonly Problem[] }
  /** The command would be rejected; paths lead into its data. */
  | {
      readonly kind: "invalid";
      /** Absent for a command above the size limit. */
      readonly command?: RequestDetail;
      readonly problems: readonly Problem[];
    }
  | {
      readonly kind: "command";
      readonly command: RequestDetail;
      /** Absent without an accounts file. */
      readonly access?: SenderAccess;
    };

/** The source of the rights. */
interface Rights {
  readonly accounts: AccountsConfig | undefined;
  /** The AWS account that Skyhook runs in; undefined: unknown. */
  readonly ownSender: string | undefined;
}

const guardProblems = (guards: unknown): readonly Problem[] =>
  Array.isArray(guards)
    ? guards.flatMap((guard: unknown, index) =>
        problemsOf(guardSchema.safeParse(guard).error?.issues ?? [], ["guards", index]),
      )
    : [];

type Checked =
  | { readonly request: CommandRequestBody }
  | { readonly request?: never; readonly problems: readonly Problem[] };

const check = ({ operation }: Reaction, { data }: RequestDetail): Checked => {
  const checked = checkRequest(operation, data);
  const problems = [
    ...(checked.request ? nameProblems(operation, checked.request) : checked.problems),
    ...guardProblems(data.guards),
  ];
  return checked.request && problems.length === 0 ? checked : { problems };
};

const accessOf = (
  { account, operation }: Reaction,
  request: CommandRequestBody,
  sender: string,
  { accounts, ownSender }: Rights,
): SenderAccess | undefined => {
  if (!accounts || account === undefined) return undefined;
  const { project_id: project } = request.params;
  const wish = {
    sender,
    account,
    operation: operation.id,
    project: typeof project === "number" ? project : undefined,
  };
  if (createAccess(accounts, ownSender ?? "").mayRun(wish)) return "allowed";
  const mayIfOwn = ownSender === undefined && createAccess(accounts, sender).mayRun(wish);
  return mayIfOwn ? "if-own" : "refused";
};

/** Applies a rule to an event without sending anything. */
const resultOf = (reaction: Reaction, event: JsonObject, rights: Rights): Result => {
  if (!matchesPattern(reaction.when, event)) {
    return { kind: "no-match", unfit: mismatchedFields(reaction.when, event) };
  }
  const outcome = commandOf(reaction, event);
  if (outcome.kind === "incomplete") return outcome;
  const command = outcome.detail;
  const size = sizeProblems(command);
  if (size.length > 0) return { kind: "invalid", problems: size };
  const { request, ...checked } = check(reaction, command);
  if (!request)
    return { kind: "invalid", command, problems: "problems" in checked ? checked.problems : [] };
  const sender = typeof event.account === "string" ? event.account : "";
  const access = accessOf(reaction, request, sender, rights);
  return { kind: "command", command, ...(access && { access }) };
};

const accessText = (access: SenderAccess, sender: string): string => {
  switch (access) {
    case "allowed":
      return `AWS account ${sender} may run it`;
    case "refused":
      return `AWS account ${sender} may not run it: no sender of this account in the accounts file permits it; check senders, operations and projects`;
    case "if-own":
      return `AWS account ${sender} may run it only if Skyhook runs in that account; if it does, add --own ${sender}`;
    default:
      return access satisfies never;
  }
};

/** JSON, which distinguishes numbers from texts, with secrets redacted. */
const commandLines = (command: object): readonly string[] =>
  JSON.stringify(plainReply(command), undefined, 2).split("\n").map(visibleText);

const lines = (result: Result, sender: string): readonly string[] => {
  switch (result.kind) {
    case "no-match":
      return [`no match on ${result.unfit.map(visibleText).join(", ")}`];
    case "incomplete":
      return [
        "the event matches",
        "no command: the event lacks fields that the rule reads:",
        ...problemLines(result.problems).map(visibleText),
      ];
    case "invalid":
      return [
        "the event matches",
        "the command would be rejected:",
        ...problemLines(result.problems).map(visibleText),
        ...(result.command ? ["the command:", ...commandLines(result.command)] : []),
      ];
    case "command":
      return [
        "the event matches",
        "the command:",
        ...commandLines(result.command),
        ...(result.access ? [accessText(result.access, sender)] : []),
      ];
    default:
      return result satisfies never;
  }
};

/**
 * The outcome of a rule in lines for the terminal.
 * @param sender the event's AWS account
 */
const resultText = (result: Result, sender: string): string => lines(result, sender).join("\n");

/** Options of `reactions test`. */
interface TestFlags extends FileFlags {
  readonly reactions?: string;
  readonly own?: string;
  readonly json?: boolean;
}

const noteMissingAccounts = ({ accounts }: ReactionFiles): void => {
  if (!accounts) printNote("rights are not checked: no accounts.yaml in this folder");
};

/** Lists the rules of a file. @throws ExitError listing every mistake with its line */
const checkReactions = async (file: string | undefined, flags: FileFlags): Promise<ExitCode> => {
  const files = readReactionFiles(file, flags);
  const { reactions } = files;
  noteMissingAccounts(files);
  const count = reactions.length === 1 ? "1 rule" : `${reactions.length} rules`;
  const rows = reactions.map(
    ({ name, operation, account = "(the only one)" }) =>
      `  ${name}: ${operation.id}, account ${visibleText(account)}`,
  );
  printResult([`${count}, no mistakes`, ...rows].join("\n"));
  return EXIT.ok;
};

/** Success only for a command that would run. */
const exitCodeOf = (result: Result): ExitCode =>
  result.kind === "command" && result.access !== "refused" ? EXIT.ok : EXIT.refused;

/** The result as JSON, with secrets redacted. */
const toJson = (rule: string, result: Result): string =>
  JSON.stringify({
    rule,
    ...result,
    ...("command" in result && { command: plainReply(result.command) }),
  });

const checkedOwn = (own: string | undefined): string | undefined => {
  if (own === undefined || /^\d{12}$/.test(own)) return own;
  throw new ExitError(
    EXIT.refused,
    "--own: must be an AWS account id, 12 digits such as 111122223333",
  );
};

/** Fields that put-event adds to an event without them, and that reactions can read. */
const STAMPS = ["id", "account", "time"] as const;

/** The event as the bus would deliver it. @throws ExitError for an event that put-event refuses */
const readPutEvent = async (
  given: JsonObject,
  file: string,
  account: string,
  { clock, random }: Ports,
): Promise<{ readonly event: BusEvent; readonly filledIn: readonly string[] }> => {
  const put = checkPut(given);
  if (put.kind === "invalid") {
    const name = file === "-" ? "standard input" : file;
    const lines = put.problems.map(({ path, rule }) =>
      visibleText([name, path, rule].filter((part) => part !== "").join(": ")),
    );
    throw new ExitError(EXIT.refused, lines.join("\n"));
  }
  // Loaded here because the module of the bus loads the database.
  const { stampEvent } = await import("../../local/local-bus.ts");
  const event = stampEvent(put.event, { id: random.uuid(), account, at: clock.now() });
  return { event, filledIn: STAMPS.filter((name) => put.event[name] === undefined) };
};

/**
 * Shows the command that a rule creates for an event, or why it creates none.
 * @param eventFile `-` for standard input
 * @throws ExitError when a file cannot be read, or the rule does not exist
 */
const testReaction = async (
  name: string,
  eventFile: string,
  flags: TestFlags,
  ports: Ports,
): Promise<ExitCode> => {
  const ownSender = checkedOwn(flags.own);
  const files = readReactionFiles(flags.reactions, flags);
  const reaction = files.reactions.find((each) => each.name === name);
  if (!reaction) {
    const names = files.reactions.map((each) => each.name).join(", ") || "none";
    throw new ExitError(
      EXIT.refused,
      `no rule ${visibleText(name)} in the reactions file; its rules: ${names}`,
    );
  }
  const { event, filledIn } = await readPutEvent(
    readEvent(eventFile),
    eventFile,
    ownSender ?? LOCAL_SENDER,
    ports,
  );
  noteMissingAccounts(files);
  if (filledIn.length > 0) printNote(`added to the event, as by put-event: ${filledIn.join(", ")}`);
  // An event without an account comes from the AWS account that Skyhook runs in.
  const own = filledIn.includes("account") ? event.account : ownSender;
  const result = resultOf(reaction, { ...event }, { accounts: files.accounts, ownSender: own });
  printResult(flags.json ? toJson(name, result) : resultText(result, event.account));
  return exitCodeOf(result);
};

export const declareReactions: DeclareVerb = (reactions, ports) => {
  const withFileOptions = (command: Command): Command =>
    command
      .option("--accounts <file>", "accounts file (default: accounts.yaml, if it exists)")
      .option("--event-source <name>", "`source` of Skyhook's own events (default: skyhook)");

  reactions.description(
    "Checks a reactions file, or tests one of its rules with an event. Neither needs a running Skyhook, and neither sends anything.",
  );
  const test = reactions
    .command("test")
    .summary("Show the command that a rule creates for an event")
    .description(
      "Shows the command that a rule creates for an event, or why it creates none. Status 0 means that the command would run.",
    )
    .argument("<rule>", "name of the rule in the reactions file")
    .argument("<event>", "file with an event, as for put-event; - for standard input");
  addExamples(withFileOptions(test), [
    "npx skyhook reactions test resume-when-paid event.json",
    "npx skyhook reactions test resume-when-paid event.json --json",
  ])
    .option("--reactions <file>", "reactions file (default: reactions.yaml)")
    .option("--own <aws-account>", "AWS account that Skyhook runs in")
    .option("--json", "print JSON")
    .action(
      ending((rule: string, event: string, flags: TestFlags) =>
        testReaction(rule, event, flags, ports),
      ),
    );
  const check = reactions
    .command("check")
    .summary("List every mistake of a reactions file")
    .description(
      "Lists every mistake of a reactions file with its line (status 2), or its rules (status 0).",
    )
    .argument("[file]", "reactions file (default: reactions.yaml)");
  addExamples(withFileOptions(check), ["npx skyhook reactions check reactions.yaml"]).action(
    ending(checkReactions),
  );
};
