import { checkLimits, requestFingerprint } from "../engine/accept.ts";
import { type Command, commandKey, commands } from "../engine/command.ts";
import { readRequest } from "../engine/read-request.ts";
import type { CommandRequest, Rejection, RequestContext } from "../engine/request.ts";
import { isUnreadable } from "../ledger/record.ts";
import { MAX_REQUEST_AGE_MS } from "../ledger/retention.ts";
import type { DeadLetter } from "../platform/ports/dead-letters.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Access } from "../provider/access.ts";
import type { DeadLetterContent, DeadLetterContext } from "./dead-letter.ts";

export interface DiagnosisContext extends DeadLetterContext {
  readonly ledger: Ledger;
  /** Undefined: unknown. */
  readonly access: Access | undefined;
  /** Epoch ms. */
  readonly now: number;
}

type RequestContent = Extract<DeadLetterContent, { kind: "request" }>;

/** The effect of processing a dead letter again, from its content and the ledger. */
export type Diagnosis =
  | { readonly kind: "unreadable" | "forged" | "ignored" }
  /** For a reaction without a command in the ledger; `isIdKnown`: whether the command's id is certain. */
  | { readonly kind: "reacting"; readonly isIdKnown: boolean }
  /** Its command's ledger item cannot be read: every receive fails. */
  | { readonly kind: "stuck" }
  /** Resumes a command that is not in the ledger. */
  | { readonly kind: "forgotten" }
  /** Its command is in the ledger; the payload may not have been compared. */
  | { readonly kind: "known"; readonly command: Command; readonly isCompared: boolean }
  | {
      readonly kind: "runnable";
      readonly request: CommandRequest;
      readonly isRightChecked: boolean;
    }
  /** Would run, but may have run before: the ledger may have deleted its command since. */
  | { readonly kind: "untimed"; readonly request: CommandRequest }
  | {
      readonly kind: "refused";
      readonly refusal: Pick<Rejection, "reason" | "problems">;
      readonly request: CommandRequest | undefined;
      /** The command in the ledger with the same id. */
      readonly command: Command | undefined;
    };

const readCommand = async (
  ledger: Ledger,
  key: string,
): Promise<Command | "unreadable" | undefined> => {
  try {
    return (await commands.read(ledger, key))?.value;
  } catch (error) {
    if (isUnreadable(error)) return "unreadable";
    throw error;
  }
};

/** Access without known rights: permits everything, for the account of the accepted command. */
const unchecked = (command: Command | undefined): RequestContext["access"] => ({
  accountsOf: () => [command?.account ?? ""],
  mayRun: () => true,
  maySee: () => true,
});

const ID_REUSED = {
  reason: "id-reused",
  problems: [
    {
      path: "metadata.commandId",
      rule: "already used by a command with another payload; send under a new id",
    },
  ],
} as const;

const diagnoseKnown = (
  request: CommandRequest,
  command: Command,
  { fingerprintKey }: DiagnosisContext,
): Diagnosis => {
  if (fingerprintKey === undefined) return { kind: "known", command, isCompared: false };
  return requestFingerprint(request, fingerprintKey) === command.fingerprint
    ? { kind: "known", command, isCompared: true }
    : { kind: "refused", refusal: ID_REUSED, request, command };
};

/** Diagnoses a valid request with an unused id. */
const diagnoseNew = async (
  request: CommandRequest,
  letter: DeadLetter,
  { ledger, access, now }: DiagnosisContext,
): Promise<Diagnosis> => {
  // The ledger deletes a command some time after its end. A request without a time may be older than that.
  if (request.askedAt === undefined && letter.arrivedAt < now - MAX_REQUEST_AGE_MS) {
    return { kind: "untimed", request };
  }
  const limits = await checkLimits(ledger, request, now);
  return limits.kind === "rejected"
    ? { kind: "refused", refusal: limits, request, command: undefined }
    : { kind: "runnable", request, isRightChecked: access !== undefined };
};

const diagnoseRequest = async (
  { source, detail }: RequestContent,
  letter: DeadLetter,
  command: Command | undefined,
  context: DiagnosisContext,
): Promise<Diagnosis> => {
  const access = context.access ?? unchecked(command);
  const read = readRequest(detail, { ...source, access });
  if (read.kind === "rejected") {
    return { kind: "refused", refusal: read.rejection, request: undefined, command };
  }
  return command
    ? diagnoseKnown(read.request, command, context)
    : diagnoseNew(read.request, letter, context);
};

const commandKeyOf = (read: DeadLetterContent): string | undefined => {
  if (read.kind === "resume") return read.command;
  if (!("commandId" in read) || read.commandId === undefined) return undefined;
  return commandKey({ sender: read.source.sender, id: read.commandId });
};

/** Diagnoses a dead letter. Reads the ledger and changes nothing. */
export const diagnose = async (
  read: DeadLetterContent,
  letter: DeadLetter,
  context: DiagnosisContext,
): Promise<Diagnosis> => {
  const key = commandKeyOf(read);
  const command = key === undefined ? undefined : await readCommand(context.ledger, key);
  if (command === "unreadable") return { kind: "stuck" };
  switch (read.kind) {
    case "unreadable":
    case "forged":
    case "ignored":
      return { kind: read.kind };
    case "resume":
      return command ? { kind: "known", command, isCompared: true } : { kind: "forgotten" };
    case "reaction":
      return command
        ? { kind: "known", command, isCompared: false }
        : { kind: "reacting", isIdKnown: read.isIdKnown };
    case "request":
      return diagnoseRequest(read, letter, command, context);
    default:
      return read satisfies never;
  }
};
