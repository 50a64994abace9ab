import { type Command, isEnded, splitCommandKey } from "../engine/command.ts";
import { clipped, listedProblems } from "../events/listing.ts";
import type { DeadLetter } from "../platform/ports/dead-letters.ts";
import { type Letter, readLetter } from "./dead-letter.ts";
import type { Explanation } from "./dead-letter-views.ts";
import { whatText, wordsOf } from "./describe.ts";
import { type Finding, type FindingContext, findOut } from "./diagnosis.ts";
import { outlineOf, shownRequest } from "./shown-content.ts";

const instant = (at: number): string => new Date(at).toISOString();

const commandIn = (finding: Finding): Command | undefined =>
  "command" in finding ? finding.command : undefined;

const ledgerFields = (command: Command | undefined): Partial<Explanation> =>
  command
    ? {
        operation: command.operation,
        account: command.account,
        lane: command.lane,
        status: command.state.status,
        ...(isEnded(command) && { endedAt: instant(command.state.endedAt) }),
      }
    : {};

/** Whose it is, and which command, as far as the message shows. */
const identityFields = (letter: Letter): Partial<Explanation> => {
  if (letter.kind === "resume") {
    const { sender, id } = splitCommandKey(letter.command);
    return { sender: clipped(sender), commandId: clipped(id) };
  }
  if (letter.kind !== "request" && letter.kind !== "reaction") return {};
  const { source, commandId } = letter;
  return { sender: clipped(source.sender), ...(commandId !== undefined && { commandId }) };
};

const requestFields = (letter: Letter, finding: Finding): Partial<Explanation> => {
  if (letter.kind !== "request") return {};
  const request = "request" in finding ? finding.request : undefined;
  if (!request) return finding.kind === "refused" ? { content: outlineOf(letter.detail) } : {};
  return {
    operation: request.operation.id,
    // Without the rights nobody knows which account is meant where the request does not say it.
    ...(request.account !== "" && { account: request.account, lane: request.lane }),
    content: shownRequest(request),
  };
};

const refusalFields = (finding: Finding): Partial<Explanation> =>
  finding.kind === "refused"
    ? { reason: finding.refusal.reason, problems: listedProblems(finding.refusal.problems) }
    : {};

/**
 * Explains a dead letter by what it is and how its command stands now. Looks up and changes nothing;
 * no secret of the request is in what it says.
 */
export const explain = async (
  letter: DeadLetter,
  context: FindingContext,
): Promise<Explanation> => {
  const read = readLetter(letter, context);
  const finding = await findOut(read, letter, context);
  const isTold = read.kind === "request" && read.commandId !== undefined;
  return {
    messageId: letter.messageId,
    ...(letter.groupId !== undefined && { groupId: letter.groupId }),
    cameAt: instant(letter.cameAt),
    receiveCount: letter.receiveCount,
    bytes: Buffer.byteLength(letter.body),
    kind: read.kind,
    what: whatText(read),
    ...identityFields(read),
    ...ledgerFields(commandIn(finding)),
    ...requestFields(read, finding),
    ...refusalFields(finding),
    ...wordsOf(finding, isTold),
    mayRunTwice: finding.kind === "untimed",
  };
};
