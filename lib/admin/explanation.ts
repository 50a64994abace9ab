import { type Command, isEnded, splitCommandKey } from "../engine/command.ts";
import type { CommandRequest, RejectionReason } from "../engine/request.ts";
import { clipped, isoText, listedProblems } from "../events/event.ts";
import type { DeadLetter } from "../platform/ports/dead-letters.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";
import type { Explanation } from "./answers.ts";
import { type DeadLetterContent, readDeadLetter } from "./dead-letter.ts";
import { type Diagnosis, type DiagnosisContext, diagnose } from "./diagnosis.ts";
import { redactedBody } from "./redacted-request.ts";

type Description = Pick<Explanation, "advice" | "deletingLoses" | "redrive" | "standing">;

/** A time to the second. */
const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const describeContent = (letter: DeadLetterContent): string => {
  switch (letter.kind) {
    case "resume":
      return "Skyhook's own message: resume a command";
    case "forged":
      return `a request with an invalid seal, in the name of AWS account ${clipped(letter.sender)}`;
    case "unreadable":
      return `an unreadable message: ${letter.why}`;
    case "ignored":
      return `a message that intake ignores: ${clipped(letter.why)}`;
    case "reaction":
      return `an event of AWS account ${clipped(letter.source.sender)} for the reaction ${clipped(letter.reaction)}, not accepted by intake`;
    case "request": {
      const { sender } = letter.source;
      if (letter.origin === "direct") return "a request that was sent to the queue directly";
      if (letter.origin === "event") {
        return `a request event of AWS account ${clipped(sender)}, not accepted by intake`;
      }
      const seal = letter.origin === "intake" ? "" : " (seal not checked: no access to its key)";
      return `a request of AWS account ${clipped(sender)}, sealed by intake${seal}`;
    }
    default:
      return letter satisfies never;
  }
};

const commandText = (command: Command): string => {
  if (!isEnded(command)) {
    const since = timeText(command.acceptedAt);
    const until = timeText(command.deadline);
    return `${command.state.status}, accepted ${since}; continues by itself, deadline ${until}`;
  }
  const { status, reason, endedAt } = command.state;
  return `ended ${timeText(endedAt)} as ${status}${reason === undefined ? "" : ` (${reason})`}`;
};

const DELETE = { advice: "delete", deletingLoses: "nothing" } as const;
const REDRIVE = { advice: "redrive", deletingLoses: "command" } as const;
const MEND = { advice: "mend", deletingLoses: "command" } as const;

const NEVER_ACCEPTED = "not in the ledger: never accepted";
const RIGHTS_UNKNOWN = ", if its sender has the right: rights are checked only with --accounts";
const NO_EVENT = "no CommandRejected event is possible, because it has no id";

/** Reasons that may pass or that an operator can remove; a redrive before that would lose the command. */
const PASSING: ReadonlySet<RejectionReason> = new Set(["lane-full", "not-allowed"]);

const describeRefusal = (
  { refusal: { reason }, command }: Extract<Diagnosis, { kind: "refused" }>,
  hasCommandId: boolean,
): Description => {
  const standing = command
    ? `a command with its id is in the ledger: ${commandText(command)}`
    : NEVER_ACCEPTED;
  if (!hasCommandId) return { standing, redrive: `rejects it (${reason}); ${NO_EVENT}`, ...DELETE };
  const redrive = `rejects it (${reason}), and publishes CommandRejected`;
  return PASSING.has(reason) && !command
    ? { standing, redrive, ...MEND }
    : { standing, redrive, advice: "redrive", deletingLoses: "rejection" };
};

/** @param hasCommandId whether a rejection can be published */
const describeDiagnosis = (diagnosis: Diagnosis, hasCommandId: boolean): Description => {
  switch (diagnosis.kind) {
    case "unreadable":
      return { standing: "no command", redrive: `rejects it; ${NO_EVENT}`, ...DELETE };
    case "forged":
      return {
        standing: "no command: another writer made the message, or the fingerprint key has changed",
        redrive: "rejects it; no CommandRejected event is possible, because its sender is unknown",
        ...DELETE,
      };
    case "ignored":
      return { standing: "no command", redrive: "changes nothing: intake ignores it", ...DELETE };
    case "reacting":
      return {
        standing: diagnosis.isIdKnown
          ? NEVER_ACCEPTED
          : "not in the ledger under this id; a rule with `key` creates its command under another id",
        redrive: "sends it to intake again, which applies the reaction",
        ...REDRIVE,
      };
    case "stuck":
      return {
        standing: "its command's ledger item cannot be read by this version",
        redrive: "fails again, until a version that can read the item is deployed",
        ...MEND,
      };
    case "forgotten":
      return {
        standing: "its command is not in the ledger; the ledger may have deleted it",
        redrive: "changes nothing",
        ...DELETE,
      };
    case "known": {
      const unsure = diagnosis.isCompared ? "" : "; payload not compared";
      const standing = `in the ledger: ${commandText(diagnosis.command)}${unsure}`;
      return { standing, redrive: "changes nothing", ...DELETE };
    }
    case "runnable":
      return {
        standing: NEVER_ACCEPTED,
        redrive: `runs it${diagnosis.isRightChecked ? "" : RIGHTS_UNKNOWN}`,
        ...REDRIVE,
      };
    case "untimed":
      return {
        standing:
          "not in the ledger and more than 30 days old: it may have run, and the ledger may have forgotten it",
        redrive:
          "could run it a second time, so it is not sent back; if it is still needed, send a new command",
        ...MEND,
      };
    case "refused":
      return describeRefusal(diagnosis, hasCommandId);
    default:
      return diagnosis satisfies never;
  }
};

const NOT_SHOWN = "[not shown]";
/** Limits of the outline that is shown of an invalid request. */
const MAX_LEVELS = 4;
const MAX_FIELDS = 50;
const MAX_NAME_CHARACTERS = 100;

/** A valid request with secrets redacted: secret fields, and their values in other texts. */
const shownRequest = (given: CommandRequest): JsonObject => {
  const { request, askedAt, deadline, after, guards, dryRun } = given;
  const body = redactedBody(given.operation, request);
  return {
    operation: given.operation.id,
    params: request.params,
    query: request.query,
    ...(body && { body }),
    ...(askedAt !== undefined && { askedAt: isoText(askedAt) }),
    ...(deadline !== undefined && { deadline: isoText(deadline) }),
    ...(after.length > 0 && { after }),
    ...(guards.length > 0 && { guards: JSON.parse(JSON.stringify(guards)) }),
    ...(dryRun && { dryRun }),
  };
};

/** The field names of an invalid request. Its values may be secret: a misspelt `envs` holds them too. */
const outlineOf = (value: unknown, levels = MAX_LEVELS): JsonValue => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return NOT_SHOWN;
  if (levels === 0) return NOT_SHOWN;
  const fields = Object.entries(value);
  return Object.fromEntries([
    ...fields
      .slice(0, MAX_FIELDS)
      .map(([name, each]) => [name.slice(0, MAX_NAME_CHARACTERS), outlineOf(each, levels - 1)]),
    ...(fields.length > MAX_FIELDS ? [["…", `${fields.length - MAX_FIELDS} more`]] : []),
  ]);
};

const ledgerFields = (diagnosis: Diagnosis): Partial<Explanation> => {
  const command = "command" in diagnosis ? diagnosis.command : undefined;
  if (!command) return {};
  const { operation, account, lane, state } = command;
  const endedAt = isEnded(command) ? { endedAt: isoText(command.state.endedAt) } : {};
  return { operation, account, lane, status: state.status, ...endedAt };
};

/** Sender and command id, as far as the message shows them. */
const identityFields = (letter: DeadLetterContent): Partial<Explanation> => {
  if (letter.kind === "resume") {
    const { sender, id } = splitCommandKey(letter.command);
    return { sender: clipped(sender), commandId: clipped(id) };
  }
  if (letter.kind !== "request" && letter.kind !== "reaction") return {};
  const { source, commandId } = letter;
  return { sender: clipped(source.sender), ...(commandId !== undefined && { commandId }) };
};

const requestFields = (letter: DeadLetterContent, diagnosis: Diagnosis): Partial<Explanation> => {
  if (letter.kind !== "request") return {};
  const request = "request" in diagnosis ? diagnosis.request : undefined;
  if (!request) return diagnosis.kind === "refused" ? { content: outlineOf(letter.detail) } : {};
  return {
    operation: request.operation.id,
    // Without known rights, the default account of a request is unknown.
    ...(request.account !== "" && { account: request.account, lane: request.lane }),
    content: shownRequest(request),
  };
};

const refusalFields = (diagnosis: Diagnosis): Partial<Explanation> =>
  diagnosis.kind === "refused"
    ? { reason: diagnosis.refusal.reason, problems: listedProblems(diagnosis.refusal.problems) }
    : {};

/** Explains a dead letter and the state of its command, without secrets. Changes nothing. */
export const explain = async (
  letter: DeadLetter,
  context: DiagnosisContext,
): Promise<Explanation> => {
  const read = readDeadLetter(letter, context);
  const diagnosis = await diagnose(read, letter, context);
  const hasCommandId = read.kind === "request" && read.commandId !== undefined;
  return {
    messageId: letter.messageId,
    ...(letter.groupId !== undefined && { groupId: letter.groupId }),
    cameAt: isoText(letter.arrivedAt),
    receiveCount: letter.receiveCount,
    bytes: Buffer.byteLength(letter.body),
    queue: letter.queue,
    kind: read.kind,
    diagnosis: diagnosis.kind === "refused" ? diagnosis.refusal.reason : diagnosis.kind,
    what: describeContent(read),
    ...identityFields(read),
    ...ledgerFields(diagnosis),
    ...requestFields(read, diagnosis),
    ...refusalFields(diagnosis),
    ...describeDiagnosis(diagnosis, hasCommandId),
    mayRunTwice: diagnosis.kind === "untimed",
  };
};
