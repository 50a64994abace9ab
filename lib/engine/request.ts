import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { unlimitedText } from "../contract/values.ts";
import type { Access } from "../provider/access.ts";
import type { CommandRequestBody } from "./command.ts";
import { type Guard, guardSchema } from "./guard.ts";

/** So that a command and what is looked up for it stay small. */
const MAX_AFTER = 20;
const MAX_GUARDS = 4;

const idOf = (maxLength: number) => unlimitedText.min(1).max(maxLength);
const commandId = idOf(128);

const metadataSchema = z.looseObject({
  id: idOf(256).optional(),
  commandId: commandId.optional(),
  correlationId: idOf(256).optional(),
  time: z.iso.datetime({ offset: true }).optional(),
});

export const requestDataSchema = z.strictObject({
  operation: z.string(),
  account: z.string().min(1).optional(),
  params: z.record(z.string(), z.json()).optional(),
  query: z.record(z.string(), z.json()).optional(),
  body: z.json().optional(),
  deadline: z.iso.datetime({ offset: true }).optional(),
  after: z.array(commandId).max(MAX_AFTER).optional(),
  guards: z.array(guardSchema).max(MAX_GUARDS).optional(),
  dryRun: z.boolean().optional(),
});

/** The detail of a `CommandRequested`: what a sender writes to have a command run. */
export const commandRequestedSchema = z.strictObject({
  metadata: metadataSchema,
  data: requestDataSchema,
});

/** Whom a request comes from, as whatever carried it tells, and who may do what. */
export interface RequestContext {
  readonly sender: string;
  /** Of the event that carried it: for a request that has no id of its own. */
  readonly eventId?: string | undefined;
  /** When that was put on the bus, epoch ms: for a request that does not say when it was made. */
  readonly sentAt?: number | undefined;
  readonly access: Pick<Access, "accountsOf" | "mayRun" | "maySee">;
}

/** A request that follows the contract; nothing is known of its command yet. */
export interface CommandRequest {
  readonly sender: string;
  readonly commandId: string;
  /** Id of the event that carried it. */
  readonly eventId: string;
  readonly correlationId: string;
  /** When it was asked for, epoch ms, if it says so. */
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

export type RejectionReason =
  | "id-reused"
  | "invalid"
  | "lane-full"
  | "not-allowed"
  | "too-late"
  | "too-old"
  | "unknown-operation";

/** A request that cannot become a command, with as much of its identity as it shows. */
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
