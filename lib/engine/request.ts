import type * as z from "zod";
import { isDeeperThan } from "../contract/json.ts";
import { type Mutation, requestFields } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { pathText } from "../contract/values.ts";
import type { EVENT_DATA } from "../events/catalogue.ts";
import type { Guard } from "../events/requests.ts";
import type { Access } from "../provider/access.ts";
import type { CommandRequestBody } from "./request-body.ts";

/** The sender of a request, as its carrier reports it, and the rights of all senders. */
export interface RequestContext {
  readonly sender: string;
  /** Id of the event that carried the request; used where the request has none. */
  readonly eventId?: string | undefined;
  /** When the event was put on the bus, epoch ms; used where the request has no time. */
  readonly sentAt?: number | undefined;
  readonly access: Pick<Access, "accountsOf" | "mayRun" | "maySee">;
}

/** A request that follows the contract; the ledger has not been read yet. */
export interface CommandRequest {
  readonly sender: string;
  readonly commandId: string;
  /** Id of the event that carried it. */
  readonly eventId: string;
  readonly correlationId: string;
  /** When the request was made, epoch ms; undefined if unknown. */
  readonly askedAt: number | undefined;
  readonly account: string;
  readonly operation: Mutation;
  readonly request: CommandRequestBody;
  readonly lane: string;
  readonly deadline: number | undefined;
  readonly after: readonly string[];
  readonly guards: readonly Guard[];
  readonly dryRun: boolean;
}

export type RejectionReason = z.output<(typeof EVENT_DATA)["CommandRejected"]>["reason"];

/** A request that cannot become a command, with the parts of its identity that could be read. */
export interface Rejection {
  readonly sender: string;
  readonly reason: RejectionReason;
  readonly problems: readonly Problem[];
  readonly operation: string;
  readonly commandId: string | undefined;
  readonly eventId: string | undefined;
  readonly correlationId: string | undefined;
}

export type ReadRequest =
  | { readonly kind: "valid"; readonly request: CommandRequest }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

/**
 * Maximum size of a request, the limit of EventBridge. It fits a ledger item (400 kB) with the rest of its
 * command.
 */
const MAX_BYTES = 256_000;
/** Maximum nesting: far more than any body of the contract has. JSON parsers run out of stack somewhere above. */
const MAX_LEVELS = 32;
/**
 * Maximum length of a URL-encoded name. Two of them and the rest of a lane's name fit a ledger key
 * (2048 bytes).
 */
const MAX_NAME_CHARACTERS = 600;

/** Problems of a request that is too large or too deep for the ledger, whatever it contains. */
export const sizeProblems = (raw: unknown): readonly Problem[] => {
  if (isDeeperThan(raw, MAX_LEVELS)) {
    return [{ path: "", rule: `must not be nested deeper than ${MAX_LEVELS} levels` }];
  }
  return Buffer.byteLength(JSON.stringify(raw) ?? "") > MAX_BYTES
    ? [{ path: "", rule: `must be at most ${MAX_BYTES} bytes of JSON` }]
    : [];
};

/** Maximum tasks of a reply, usually one. Their records have to fit a ledger item. */
const MAX_TASKS = 50;

const isTooLong = (value: unknown): boolean =>
  typeof value === "string" && encodeURIComponent(value).length > MAX_NAME_CHARACTERS;

/** Problems of resource names that are too long for a ledger key. */
export const nameProblems = (
  operation: Mutation,
  request: CommandRequestBody,
): readonly Problem[] => {
  const rule = `at most ${MAX_NAME_CHARACTERS} characters when URL-encoded`;
  const names = requestFields(request, operation.lane.by);
  return operation.lane.by
    .filter((_, index) => isTooLong(names[index]))
    .map((path) => ({ path, rule }));
};

/** Name of a command's lane: account, kind of resource, and the fields that identify it. */
export const laneIdOf = (
  operation: Mutation,
  account: string,
  request: CommandRequestBody,
): string => {
  const names = requestFields(request, operation.lane.by);
  return [account, operation.lane.resource, ...names]
    .map((part) => encodeURIComponent(String(part ?? "")))
    .join("/");
};

/** Whether the ledger can hold tasks with these ids, and a request can name them. */
export const canBeFollowed = (taskIds: readonly string[]): boolean =>
  taskIds.length <= MAX_TASKS &&
  taskIds.every((id) => pathText().safeParse(id).success && !isTooLong(id));
