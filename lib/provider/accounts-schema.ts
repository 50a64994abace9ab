import * as z from "zod";
import { baseUrl, duration, entryName } from "../config/values.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { COMMANDED_IDS } from "../contract/operations.ts";
import { problemsOf } from "../contract/problem.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { oneOf } from "../contract/values.ts";
import { MAX_DEADLINE_MS } from "../ledger/retention.ts";

/** The word for the AWS account that Skyhook itself runs in, in an accounts file. */
export const OWN = "own";

const MAX_AMBIGUITY_WINDOW_MS = 60 * 60 * 1000;
const LONGEST_MAX_PAUSE_MS = 24 * 60 * 60 * 1000;

/** A string of 12 digits. YAML reads an id without quotes as a number, without its leading zeros. */
const awsAccountId = z
  .string({ error: 'must be an AWS account id in quotes, such as "111122223333"' })
  .regex(/^\d{12}$/, { error: 'must be an AWS account id of 12 digits, such as "111122223333"' })
  .describe('AWS account id in quotes, such as "111122223333"');
const sender = z
  .union([z.literal(OWN), awsAccountId], {
    error: 'must be own, or an AWS account id in quotes, such as "111122223333"',
  })
  .describe("`own`, or an AWS account id in quotes");

const operations = z.union([z.literal("all"), z.array(oneOf(COMMANDED_IDS)).min(1)], {
  error: `must be all, or a list of these operations: ${COMMANDED_IDS.join(", ")}`,
});
const projects = z.union([z.literal("all"), z.array(z.int()).min(1)], {
  error: "must be all, or a list of project ids",
});

const rightsSchema = z.strictObject({
  sender,
  operations: operations
    .optional()
    .describe("Operations that this sender may run (default: all that the account allows)"),
  projects: projects
    .optional()
    .describe(
      "Projects in which this sender may run commands (default: all that the account allows)",
    ),
});

const atMost = (limitMs: number, rule: string) =>
  duration.refine((durationMs) => durationMs <= limitMs, { error: rule }).optional();
const deadline = atMost(MAX_DEADLINE_MS, "at most 7d");

const ENTRY_RULE = "must be own, an AWS account id in quotes, or an object with `sender`";

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
        "must say where the key is: `parameter: /name/of/an/ssm/parameter` or `environment: VARIABLE`; never the key itself",
    },
  )
  .describe("Place of the provider's API key: an SSM parameter, or a variable of a local run");

const accountSchema = z.strictObject({
  name: entryName.describe("Name of the account in commands, reactions and events"),
  base_url: baseUrl
    .optional()
    .describe("Base URL of the provider's API; absent: the provider of the local run"),
  api_key: apiKeySchema.optional(),
  senders: z
    .array(
      z
        .union([sender, rightsSchema], { error: ({ input }) => entryRule(input) })
        .describe("`own`, an AWS account id in quotes, or an object with rights"),
    )
    .min(1)
    .describe(
      "AWS accounts that may use this account: `own` or an id for all rights, an object for some",
    ),
  operations: operations.optional().describe("Operations that any sender may run (default: all)"),
  projects: projects
    .optional()
    .describe("Projects in which any sender may run commands (default: all)"),
  requests_per_second: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe(
      "Rate limit of the account in requests per second, shared by all functions (default: 20)",
    ),
  task_path: oneOf([TASK_PATH, PUBLISHED_TASK_PATH])
    .optional()
    .describe(`The provider's path of one task (default: ${TASK_PATH})`),
  pool_path: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH])
    .optional()
    .describe(`The provider's path of a pool's update (default: ${POOL_PATH})`),
  lists: z
    .boolean()
    .optional()
    .describe("Whether the provider's API lists tasks and notification events (default: true)"),
  settle: atMost(MAX_AMBIGUITY_WINDOW_MS, "at most 1h").describe(
    "Ambiguity window: a request without a reply takes effect within this time or never (default: 5m)",
  ),
  max_pause: atMost(LONGEST_MAX_PAUSE_MS, "at most 24h").describe(
    "Longest pause that the provider's Retry-After may cause (default: 15m)",
  ),
  deadlines: deadlinesSchema
    .optional()
    .describe(
      "Time limits of commands that name no deadline, by operation or `default` (default: 2h)",
    ),
});

const awsAccountSchema = z.strictObject({
  id: awsAccountId,
  bus: z
    .string()
    .regex(/^arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]{1,256}$/, {
      error: "must be the ARN of an event bus",
    })
    .optional()
    .describe("ARN of its event bus, which receives the events of its commands"),
});

/** An accounts file as written. `toAccountsConfig` fills in its defaults. */
export const accountsSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Path of this schema, for editors"),
    accounts: z.array(accountSchema).min(1).describe("Accounts at the provider"),
    aws_accounts: z
      .array(awsAccountSchema)
      .optional()
      .describe("Other AWS accounts that may put events on Skyhook's bus"),
    organization: z
      .string()
      .regex(/^o-[a-z0-9]{10,32}$/, {
        error: "must be the id of an AWS organization, such as o-abcde12345",
      })
      .optional()
      .describe(
        "Id of an AWS organization; all of its AWS accounts may put events on Skyhook's bus",
      ),
  })
  .describe("Accounts at the provider, and the AWS accounts that may use them");
