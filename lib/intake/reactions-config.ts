import * as z from "zod";
import type { ConfigReading } from "../config/config-file.ts";
import { duration, entryName } from "../config/values.ts";
import { COMMANDED } from "../contract/operations.ts";
import { pathText, placedProblemsOf } from "../contract/problem.ts";
import { oneOf } from "../contract/values.ts";
import { MAX_DEADLINE_MS } from "../ledger/retention.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";
import { readPattern } from "./event-patterns/pattern.ts";
import type { Reaction } from "./reaction.ts";
import { crossFieldProblems, onlyAccount, type ReactionContext } from "./reaction-rules.ts";
import { readEventPath, readTemplate, type Template } from "./template.ts";

type Fields = Readonly<Record<string, unknown>>;

const fieldsSchema = z.custom<Fields>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: ({ input }) => (input === undefined ? "required" : "must be an object") },
);

const MAPPED =
  "A string that begins with `$.` is a path into the event, such as `$.detail.items[0]['odd key']`, and stands for the value there; `$$.` stands for a literal `$.`";

const PART_RULE = "must be an object, or a path into the event such as $.detail.body";

/** A part of the request: its fields, or the path of the whole part in the event. */
const partSchema = z
  .custom<Fields | string>(
    (value) =>
      typeof value === "string" ? value.startsWith("$.") : fieldsSchema.safeParse(value).success,
    { error: PART_RULE },
  )
  .optional();

const part = (description: string) =>
  partSchema.meta({ type: ["object", "string"], description: `${description}. ${MAPPED}` });

const requestSchema = z.strictObject({
  operation: oneOf(COMMANDED.map(({ id }) => id)).describe("Operation to run"),
  params: part("Path parameters of the operation, or a path to all of them"),
  query: part("Query parameters of the operation, or a path to all of them"),
  body: part("Body of the operation, or a path to all of it"),
});

const reactionSchema = z.strictObject({
  name: entryName().describe(
    "Name of the reaction, part of the ids of its commands; each name once. 1 to 64 letters, digits, dots, underscores or hyphens; begins with a letter or digit",
  ),
  when: fieldsSchema.meta({
    type: "object",
    required: ["source"],
    description: "EventBridge event pattern that an event has to match; it names the `source`",
  }),
  bus: z
    .literal("default", { error: "must be default, or left out for Skyhook's bus" })
    .optional()
    .describe(
      "Event bus of the event: `default` for events of AWS services. Default: Skyhook's own bus",
    ),
  account: z
    .string()
    .optional()
    .describe(
      "Account at the provider, by its name in the accounts file; optional where the file has only one",
    ),
  key: z
    .string()
    .regex(/^\$\./, { error: "must be a path into the event, such as $.detail.order.id" })
    .optional()
    .describe(
      "Path to the value that identifies the command, such as `$.detail.order.id`: copies of an event with other ids are one command. The value is a string of 1 to 63 characters or a whole number. Default: the event's id",
    ),
  // biome-ignore lint/suspicious/noThenProperty: no code awaits a config, and `when`, `then` read well in the file
  then: requestSchema.describe("Command that the event causes"),
  guards: z
    .array(fieldsSchema.meta({ type: "object", description: "A guard, as in `CommandRequested`" }))
    .optional()
    .describe(
      `Conditions on tags, at most 4; all have to hold when the request is sent. Default: none. ${MAPPED}`,
    ),
  deadline: duration()
    .refine((ms) => ms <= MAX_DEADLINE_MS, { error: "at most 7d" })
    .optional()
    .describe(
      "Deadline of the command, counted from the event's time: a time span such as `90s`, `30m` or `2h`, at most `7d`. Default: the account's deadline for the operation",
    ),
});

export const reactionsSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Path or URL of this JSON Schema, for editors"),
    reactions: z
      .array(reactionSchema)
      .describe("Rules; every rule that matches an event causes a command of its own"),
  })
  .describe("Rules that turn events into commands");

const readPart = (part: unknown): Template | undefined =>
  part === undefined ? undefined : readTemplate(part);

const toReaction = (
  read: z.output<typeof reactionSchema>,
  accounts: AccountsConfig | undefined,
): readonly Reaction[] => {
  const pattern = readPattern(read.when);
  const operation = COMMANDED.find(({ id }) => id === read.then.operation);
  // The cross-field rules have checked both.
  if (pattern.kind === "invalid" || !operation) return [];
  return [
    {
      name: read.name,
      when: pattern.pattern,
      bus: read.bus,
      account: read.account ?? onlyAccount(accounts)?.name,
      key: read.key === undefined ? undefined : readEventPath(read.key).path,
      operation,
      params: readPart(read.then.params),
      query: readPart(read.then.query),
      body: readPart(read.then.body),
      guards: read.guards?.map((guard) => readTemplate(guard)),
      deadlineMs: read.deadline,
    },
  ];
};

/** Converts a file that `crossFieldProblems` has checked against the same accounts. */
export const toReactions = (
  file: z.output<typeof reactionsSchema>,
  { accounts }: Pick<ReactionContext, "accounts">,
): readonly Reaction[] => file.reactions.flatMap((read) => toReaction(read, accounts));

/** Reads the reactions file that is packaged with a function as JSON. Reports every problem, without lines. */
export const parseReactions = (
  json: unknown,
  context: ReactionContext,
): ConfigReading<readonly Reaction[]> => {
  const parsed = reactionsSchema.safeParse(json);
  const problems = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...crossFieldProblems(json, context),
  ];
  return parsed.success && problems.length === 0
    ? { kind: "valid", value: toReactions(parsed.data, context) }
    : {
        kind: "invalid",
        problems: problems.map(({ path, rule }) => ({ path: pathText(path), rule })),
      };
};
