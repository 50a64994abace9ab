import * as z from "zod";
import { baseUrl, duration, entryName } from "../config/values.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { COMMANDED_IDS } from "../contract/operations.ts";
import { problemsOf } from "../contract/problem.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { oneOf } from "../contract/values.ts";
import { MAX_DEADLINE_MS } from "../ledger/retention.ts";

/** In an accounts file, the AWS account that Skyhook itself runs in. */
export const OWN = "own";

const MAX_AMBIGUITY_WINDOW_MS = 60 * 60 * 1000;
const LONGEST_MAX_PAUSE_MS = 24 * 60 * 60 * 1000;

/** Quoted in YAML, or its leading zeros are gone. */
const awsAccountId = z
  .string({ error: 'an AWS account id in quotes, such as "111122223333"' })
  .regex(/^\d{12}$/, { error: 'an AWS account id, such as "111122223333"' });
const sender = z.union([z.literal(OWN), awsAccountId], {
  error: 'own, or an AWS account id in quotes, such as "111122223333"',
});

const operations = z.union([z.literal("all"), z.array(oneOf(COMMANDED_IDS)).min(1)], {
  error: `all, or a list of ${COMMANDED_IDS.join(", ")}`,
});
const projects = z.union([z.literal("all"), z.array(z.int()).min(1)], {
  error: "all, or a list of project ids",
});

const rightsSchema = z.strictObject({
  sender,
  operations: operations.optional().describe("What this sender may run; all of the account's"),
  projects: projects.optional().describe("Where this sender may act; all of the account's"),
});

const atMost = (limitMs: number, rule: string) =>
  duration.refine((durationMs) => durationMs <= limitMs, { error: rule }).optional();
const deadline = atMost(MAX_DEADLINE_MS, "at most 7d");

const ENTRY_RULE = "own, an AWS account id in quotes, or rights";

/** Reports problems inside a rights object instead of "not an AWS account id". */
const entryRule = (input: unknown): string => {
  if (typeof input !== "object" || input === null) return ENTRY_RULE;
  const issues = rightsSchema.safeParse(input).error?.issues ?? [];
  return problemsOf(issues)
    .map(({ path, rule }) => `${path}: ${rule}`)
    .join("; ");
};

const deadlinesSchema = z.strictObject({
  default: deadline,
  ...Object.fromEntries(COMMANDED_IDS.map((id) => [id, deadline])),
});

const apiKeySchema = z
  .union(
    [
      z.strictObject({ parameter: z.string().regex(/^\/[\w./-]{1,1010}$/) }),
      z.strictObject({ environment: z.string().regex(/^[A-Za-z_]\w*$/) }),
    ],
    {
      error:
        "where the key is: `parameter: /name/of/an/ssm/parameter`, or `environment: VARIABLE`; never the key itself",
    },
  )
  .describe("Where the provider's API key is");

const accountSchema = z.strictObject({
  name: entryName.describe("What commands call it"),
  base_url: baseUrl.optional().describe("Address of the provider's API"),
  api_key: apiKeySchema.optional(),
  senders: z
    .array(z.union([sender, rightsSchema], { error: ({ input }) => entryRule(input) }))
    .min(1)
    .describe("AWS accounts that may use it, each with everything or with rights of its own"),
  operations: operations.optional().describe("What may be run at all (default: all)"),
  projects: projects.optional().describe("Where anybody may act (default: all)"),
  requests_per_second: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Rate limit, requests a second (default: 20)"),
  task_path: oneOf([TASK_PATH, PUBLISHED_TASK_PATH]).optional(),
  pool_path: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH]).optional(),
  lists: z
    .boolean()
    .optional()
    .describe("Whether its API lists tasks and notification events (default: true)"),
  settle: atMost(MAX_AMBIGUITY_WINDOW_MS, "at most 1h").describe(
    "How long a request without reply may still act (5m)",
  ),
  max_pause: atMost(LONGEST_MAX_PAUSE_MS, "at most 24h").describe(
    "Longest pause that the provider's Retry-After may cause (15m)",
  ),
  deadlines: deadlinesSchema.optional().describe("Of commands that name none (default: 2h)"),
});

const awsAccountSchema = z.strictObject({
  id: awsAccountId,
  bus: z
    .string()
    .regex(/^arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]{1,256}$/, {
      error: "the ARN of an event bus",
    })
    .optional()
    .describe("Where the events of its commands go"),
});

/** The accounts file, as people write it. */
export const accountsSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Where an editor finds this schema"),
    accounts: z.array(accountSchema).min(1).describe("Accounts at the provider"),
    aws_accounts: z
      .array(awsAccountSchema)
      .optional()
      .describe("Other AWS accounts that may put events on the bus"),
    organization: z
      .string()
      .regex(/^o-[a-z0-9]{10,32}$/, { error: "an AWS organization's id, such as o-abcde12345" })
      .optional()
      .describe("All of its AWS accounts may put events on the bus"),
  })
  .describe("Accounts at the provider, and who may use them");
