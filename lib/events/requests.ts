import * as z from "zod";
import { lazy } from "../contract/lazy.ts";
import { getFloatingIpTag, getNetworkTag } from "../contract/tags.ts";
import { unlimitedText } from "../contract/values.ts";

const RESOURCES = ["floating_ip", "network"] as const;
const TESTS = ["equals", "not", "exists", "absent"] as const;

const exactlyOne = (fields: readonly string[]) => (guard: Readonly<Record<string, unknown>>) =>
  fields.filter((field) => guard[field] !== undefined).length === 1;
const error = (fields: readonly string[]): string => `exactly one of ${fields.join(", ")}`;
/** As `exactlyOne`, in JSON Schema. */
const oneRequired = (fields: readonly string[]) => ({
  oneOf: fields.map((field) => ({ required: [field] })),
});

const tagValue = z.string().max(255, { error: "at most 255 characters" });

const guardFields = () =>
  z
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
    .refine(exactlyOne(TESTS), { error: error(TESTS) })
    .meta({ allOf: [oneRequired(RESOURCES), oneRequired(TESTS)] });

/**
 * A condition on one tag (E13, E14), which has to hold when the command's request is sent. Built at its first use,
 * because few commands have guards.
 */
export const guardSchema = z.lazy(guardFields);

export type Guard = z.output<typeof guardSchema>;

/** Limits that keep a command, and the reads that it causes, small. */
const MAX_AFTER = 20;
const MAX_GUARDS = 4;

/** Maximum length of a command id, which becomes part of a ledger key. */
export const MAX_COMMAND_ID_LENGTH = 128;

/** An id is a segment of a path in the console, where `.` and `..` have a meaning of their own. */
export const idOf = (maxLength: number) =>
  unlimitedText()
    .min(1)
    .max(maxLength)
    .regex(/^(?!\.{1,2}$)/, "must not be . or ..");
const commandId = idOf(MAX_COMMAND_ID_LENGTH);

/** The metadata of a request. */
export const requestMetadataSchema = z.looseObject({
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

const commandData = z.strictObject({
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
  metadata: requestMetadataSchema.describe("Identity and origin of the request; may be `{}`"),
  data: commandData.describe("Command that the sender asks for"),
});

/** The data of a `TaskFollowRequested`. Intake turns it into that of a command, and checks the rest there. */
export const taskFollowData = lazy(() =>
  z.strictObject({
    taskId: z.string().min(1).describe("Id of the task at the provider"),
    account: commandData.shape.account.describe(
      "Account of the task. Default: the only account that the sender may use",
    ),
    after: commandData.shape.after,
    deadline: commandData.shape.deadline.describe(
      "End of the checks, at most 7 days ahead. Default: the account's deadline for `follow-task`, 2 hours where it sets none",
    ),
  }),
);

/** The detail of a `TaskFollowRequested`, beside the metadata, which intake checks with the command. */
export const taskFollowSchema = lazy(() =>
  z.looseObject({ data: taskFollowData().describe("Task to follow") }),
);
