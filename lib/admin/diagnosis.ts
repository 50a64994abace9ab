import { refusalOfNew, requestFingerprint } from "../engine/accept.ts";
import { type Command, commandKey, commands } from "../engine/command.ts";
import { readRequest } from "../engine/read-request.ts";
import type { CommandRequest, Rejection, RequestContext } from "../engine/request.ts";
import { isUnreadable } from "../ledger/record.ts";
import { MAX_REQUEST_AGE_MS } from "../ledger/retention.ts";
import type { DeadLetter } from "../platform/ports/dead-letters.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Access } from "../provider/access.ts";
import type { Letter, LetterContext } from "./dead-letter.ts";

export interface FindingContext extends LetterContext {
  readonly ledger: Ledger;
  /** Who may do what; undefined: not known here. */
  readonly access: Access | undefined;
  /** Epoch ms. */
  readonly now: number;
}

type RequestLetter = Extract<Letter, { kind: "request" }>;

/** How a dead letter stands now: what run-commands would make of it. */
export type Finding =
  | { readonly kind: "unreadable"; readonly why: string }
  | { readonly kind: "forged" }
  | { readonly kind: "ignored" }
  /** For a reaction, and its command is not in the ledger, as far as its id is known. */
  | { readonly kind: "reacting"; readonly isIdKnown: boolean }
  /** Its command's ledger item cannot be read: every receive fails. */
  | { readonly kind: "stuck" }
  /** To go on with a command that is not in the ledger. */
  | { readonly kind: "forgotten" }
  /** Its command is in the ledger; the payload may not have been compared. */
  | { readonly kind: "known"; readonly command: Command; readonly isCompared: boolean }
  | {
      readonly kind: "runnable";
      readonly request: CommandRequest;
      readonly isRightChecked: boolean;
    }
  /** It would run; but it may have run already, so long ago that the ledger has forgotten it. */
  | { readonly kind: "untimed"; readonly request: CommandRequest }
  | {
      readonly kind: "refused";
      readonly refusal: Pick<Rejection, "reason" | "problems">;
      readonly request: CommandRequest | undefined;
      /** Of the command that has its id. */
      readonly command: Command | undefined;
    };

/** The command, or that its item cannot be read by this version. */
const lookUp = async (ledger: Ledger, key: string): Promise<Command | "unreadable" | undefined> => {
  try {
    return (await commands.read(ledger, key))?.value;
  } catch (error) {
    if (isUnreadable(error)) return "unreadable";
    throw error;
  }
};

/** Everybody may do everything, with the account of the command that the request is one already. */
const unchecked = (command: Command | undefined): RequestContext["access"] => ({
  accountsOf: () => [command?.account ?? ""],
  mayRun: () => true,
  maySee: () => true,
});

const ID_REUSED = {
  reason: "id-reused",
  problems: [{ path: "metadata.commandId", rule: "belongs to a command with another payload" }],
} as const;

const findKnown = (
  request: CommandRequest,
  command: Command,
  { fingerprintKey }: FindingContext,
): Finding => {
  if (fingerprintKey === undefined) return { kind: "known", command, isCompared: false };
  return requestFingerprint(request, fingerprintKey) === command.fingerprint
    ? { kind: "known", command, isCompared: true }
    : { kind: "refused", refusal: ID_REUSED, request, command };
};

/** Of a request that keeps to the contract, and whose id is free. */
const findNew = async (
  request: CommandRequest,
  letter: DeadLetter,
  { ledger, access, now }: FindingContext,
): Promise<Finding> => {
  // The ledger forgets a command some time after its end, and this request does not tell its age.
  if (request.askedAt === undefined && letter.arrivedAt < now - MAX_REQUEST_AGE_MS) {
    return { kind: "untimed", request };
  }
  const refusal = await refusalOfNew(ledger, request, now);
  return refusal
    ? { kind: "refused", refusal, request, command: undefined }
    : { kind: "runnable", request, isRightChecked: access !== undefined };
};

const findRequest = async (
  { source, commandId, detail }: RequestLetter,
  letter: DeadLetter,
  context: FindingContext,
): Promise<Finding> => {
  const key = commandId && commandKey({ sender: source.sender, id: commandId });
  const command = key === undefined ? undefined : await lookUp(context.ledger, key);
  if (command === "unreadable") return { kind: "stuck" };
  const access = context.access ?? unchecked(command);
  const read = readRequest(detail, { ...source, access });
  if (read.kind === "rejected") {
    return { kind: "refused", refusal: read.rejection, request: undefined, command };
  }
  return command
    ? findKnown(read.request, command, context)
    : findNew(read.request, letter, context);
};

/** Looks up how a dead letter stands. Changes nothing. */
export const findOut = async (
  read: Letter,
  letter: DeadLetter,
  context: FindingContext,
): Promise<Finding> => {
  switch (read.kind) {
    case "unreadable":
      return read;
    case "forged":
      return { kind: "forged" };
    case "resume": {
      const command = await lookUp(context.ledger, read.command);
      if (command === "unreadable") return { kind: "stuck" };
      return command ? { kind: "known", command, isCompared: true } : { kind: "forgotten" };
    }
    case "request":
      return findRequest(read, letter, context);
    case "ignored":
      return { kind: "ignored" };
    case "reaction": {
      const key = commandKey({ sender: read.source.sender, id: read.commandId });
      const command = await lookUp(context.ledger, key);
      if (command === "unreadable") return { kind: "stuck" };
      return command
        ? { kind: "known", command, isCompared: false }
        : { kind: "reacting", isIdKnown: read.isIdKnown };
    }
    default:
      return read satisfies never;
  }
};
