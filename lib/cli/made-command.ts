import { type Problem, problemsOf } from "../contract/problem.ts";
import type { CommandRequestBody } from "../engine/command.ts";
import { checkRequest } from "../engine/read-request.ts";
import { guardSchema, nameProblems, sizeProblems } from "../engine/request.ts";
import { matchesPattern, mismatchedFields } from "../intake/event-patterns/pattern.ts";
import type { Reaction } from "../intake/reaction.ts";
import { commandOf, type RequestDetail } from "../intake/reaction.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import { createAccess } from "../provider/access.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";

/** Whether the AWS account of the event may run the command; `if-own`: if Skyhook runs in it. */
export type SenderAccess = "allowed" | "if-own" | "refused";

/** What becomes of an event by a rule. */
export type Made =
  /** With the fields on which it does not match. */
  | { readonly kind: "no-match"; readonly unfit: readonly string[] }
  /** Paths into the event. */
  | { readonly kind: "incomplete"; readonly problems: readonly Problem[] }
  /** Paths into the command's data. */
  | {
      readonly kind: "invalid";
      /** Absent when it is too large to be looked at. */
      readonly command?: RequestDetail;
      readonly problems: readonly Problem[];
    }
  | {
      readonly kind: "command";
      readonly command: RequestDetail;
      /** Absent where accounts are not known. */
      readonly access?: SenderAccess;
    };

/** Where the rights come from. */
export interface Rights {
  readonly accounts: AccountsConfig | undefined;
  /** The AWS account that Skyhook runs in, where that is known. */
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

/** What an event would lead to by a rule, as far as it can be known without sending anything. */
export const madeOf = (reaction: Reaction, event: JsonObject, rights: Rights): Made => {
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
