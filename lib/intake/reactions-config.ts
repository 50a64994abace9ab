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
  { error: ({ input }) => (input === undefined ? "required" : "an object") },
);

const MAPPED =
  "a text that begins with $. is a path into the event, such as $.detail.items[0]['odd key']; $$. stands for $.";

const PART_RULE = "an object, or where it is in the event, such as $.detail.body";

/** A part of the request: its fields, or where in the event all of it is. */
const partSchema = z
  .custom<Fields | string>(
    (value) =>
      typeof value === "string" ? value.startsWith("$.") : fieldsSchema.safeParse(value).success,
    { error: PART_RULE },
  )
  .optional();

const requestSchema = z.strictObject({
  operation: oneOf(COMMANDED.map(({ id }) => id)),
  params: partSchema.meta({ type: ["object", "string"], description: `Of its path; ${MAPPED}` }),
  query: partSchema.meta({ type: ["object", "string"], description: `Of its query; ${MAPPED}` }),
  body: partSchema.meta({ type: ["object", "string"], description: `Its body; ${MAPPED}` }),
});

const reactionSchema = z.strictObject({
  name: entryName.describe("Part of the ids of its commands; each name once"),
  when: fieldsSchema.meta({
    type: "object",
    required: ["source"],
    description: "Which events: an event pattern as EventBridge has them",
  }),
  bus: z
    .literal("default", { error: "default, or left out: Skyhook's own bus" })
    .optional()
    .describe("Where the event arrives: default for events of AWS services; else Skyhook's bus"),
  account: z
    .string()
    .optional()
    .describe(
      "The account at the provider, by its name in the accounts file; may be left out where that has one",
    ),
  key: z
    .string()
    .regex(/^\$\./, { error: "where it is in the event, such as $.detail.order.id" })
    .optional()
    .describe(
      "Path to what names the command instead of the event's id, such as $.detail.order.id: copies of an event with other ids are one command",
    ),
  // biome-ignore lint/suspicious/noThenProperty: nobody awaits a config, and people read it aloud
  then: requestSchema.describe("What is sent to the provider"),
  guards: z
    .array(fieldsSchema.meta({ type: "object" }))
    .optional()
    .describe(`Conditions on tags; all have to hold when the request is sent; ${MAPPED}`),
  deadline: duration
    .refine((ms) => ms <= MAX_DEADLINE_MS, { error: "at most 7d" })
    .optional()
    .describe("How long after the event the command may still run, such as 30m"),
});

export const reactionsSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Where an editor finds this schema"),
    reactions: z.array(reactionSchema).describe("Which event runs which command"),
  })
  .describe("Events that Skyhook answers with commands");

const readPart = (part: unknown): Template | undefined =>
  part === undefined ? undefined : readTemplate(part);

const toReaction = (
  read: z.output<typeof reactionSchema>,
  accounts: AccountsConfig | undefined,
): readonly Reaction[] => {
  const pattern = readPattern(read.when);
  const operation = COMMANDED.find(({ id }) => id === read.then.operation);
  // The rules make sure that both are there.
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

/** Takes a file that `crossFieldProblems` has checked against the same accounts. */
export const toReactions = (
  file: z.output<typeof reactionsSchema>,
  { accounts }: Pick<ReactionContext, "accounts">,
): readonly Reaction[] => file.reactions.flatMap((read) => toReaction(read, accounts));

/** Reads packaged reactions: JSON in the shape of the file. Reports every problem, without lines. */
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
