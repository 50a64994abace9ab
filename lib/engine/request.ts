import { createHmac } from "node:crypto";
import * as z from "zod";
import { isDeeperThan } from "../contract/json.ts";
import { type Mutation, requestFields } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { getFloatingIpTag, getNetworkTag } from "../contract/tags.ts";
import { pathText, unlimitedText } from "../contract/values.ts";
import type { EVENT_DATA } from "../events/catalogue.ts";
import type { Access } from "../provider/access.ts";
import type { CommandRequestBody } from "./command.ts";

const RESOURCES = ["floating_ip", "network"] as const;
const TESTS = ["equals", "not", "exists", "absent"] as const;

const exactlyOne = (fields: readonly string[]) => (guard: Readonly<Record<string, unknown>>) =>
  fields.filter((field) => guard[field] !== undefined).length === 1;
const error = (fields: readonly string[]): string => `exactly one of ${fields.join(", ")}`;

const tagValue = z.string().max(255, { error: "at most 255 characters" });

/** A condition on one tag (E13, E14), which has to hold when the command's request is sent. */
export const guardSchema = z
  .strictObject({
    floating_ip: getFloatingIpTag.params.optional().describe("Floating IP with the tag"),
    network: getNetworkTag.params.optional().describe("Network with the tag"),
    key: getNetworkTag.query.shape.key.describe("Key of the tag"),
    equals: tagValue.optional().describe("The tag has this value"),
    not: tagValue.optional().describe("The tag has another value, or does not exist"),
    exists: z.literal(true).optional().describe("The tag exists"),
    absent: z.literal(true).optional().describe("The tag does not exist"),
  })
  .refine(exactlyOne(RESOURCES), { error: error(RESOURCES) })
  .refine(exactlyOne(TESTS), { error: error(TESTS) });

export type Guard = z.output<typeof guardSchema>;

/** Limits that keep a command, and the reads that it causes, small. */
const MAX_AFTER = 20;
const MAX_GUARDS = 4;

/** Maximum length of a command id, which becomes part of a ledger key. */
export const MAX_COMMAND_ID_LENGTH = 128;

export const idOf = (maxLength: number) => unlimitedText.min(1).max(maxLength);
const commandId = idOf(MAX_COMMAND_ID_LENGTH);

const metadataSchema = z.looseObject({
  id: idOf(256).optional().describe("Id of the request. Default: the id of its EventBridge event"),
  commandId: commandId
    .optional()
    .describe(
      "Id of the command, unique for the sender. Default: `id`, if it has 128 characters at most",
    ),
  correlationId: idOf(256)
    .optional()
    .describe("Repeated in every event of the command. Default: the command's id"),
  time: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      "When the sender made the request, at most 30 days ago. Default: the time of its EventBridge event",
    ),
});

const requestDataSchema = z.strictObject({
  operation: z.string().describe("Id of the operation, such as `update-container`"),
  account: z
    .string()
    .min(1)
    .optional()
    .describe("Account at the provider. Default: the only account that the sender may use"),
  params: z
    .record(z.string(), z.json())
    .optional()
    .describe("Path parameters of the operation. Default: `{}`"),
  query: z
    .record(z.string(), z.json())
    .optional()
    .describe("Query parameters of the operation. Default: `{}`"),
  body: z.json().optional().describe("Body of the operation; absent where it takes none"),
  deadline: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      "End of all attempts, at most 7 days ahead. Default: the account's deadline for the operation, 2 hours where it sets none",
    ),
  after: z
    .array(commandId)
    .max(MAX_AFTER)
    .optional()
    .describe("Ids of the sender's commands that have to succeed first. Default: `[]`"),
  guards: z
    .array(guardSchema)
    .max(MAX_GUARDS)
    .optional()
    .describe("Conditions on tags; all have to hold when the request is sent. Default: `[]`"),
  dryRun: z
    .boolean()
    .optional()
    .describe("Whether to check everything and send no mutation. Default: `false`"),
});

/** The detail of a `CommandRequested`, by which a sender requests a command. */
export const commandRequestedSchema = z.strictObject({
  metadata: metadataSchema.describe("Identity and origin of the request; may be `{}`"),
  data: requestDataSchema.describe("Command that the sender asks for"),
});

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

/** Whether the ledger can hold tasks with these ids, and a request can name them. */
export const canBeFollowed = (taskIds: readonly string[]): boolean =>
  taskIds.length <= MAX_TASKS &&
  taskIds.every((id) => pathText.safeParse(id).success && !isTooLong(id));

const sortKeys = (_key: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * Keyed hash of JSON data, the same for any order of its fields. Discloses nothing without the key.
 */
export const fingerprintOf = (value: unknown, key: string): string =>
  createHmac("sha256", key).update(JSON.stringify(value, sortKeys)).digest("hex");
