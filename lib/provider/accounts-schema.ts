import * as z from "zod";
import { baseUrl, duration, entryName } from "../config/values.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { COMMANDED_IDS } from "../contract/operations.ts";
import { problemsOf } from "../contract/problem.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { oneOf } from "../contract/values.ts";
import { MAX_DEADLINE_MS } from "../ledger/retention.ts";

/** Word of an accounts file for the AWS account in which Skyhook runs. */
export const OWN = "own";

const MAX_AMBIGUITY_WINDOW_MS = 60 * 60 * 1000;
const LONGEST_MAX_PAUSE_MS = 24 * 60 * 60 * 1000;

/** A string of 12 digits. YAML reads an id without quotes as a number, without its leading zeros. */
const awsAccountId = z
  .string({ error: 'must be an AWS account id in quotes, such as "111122223333"' })
  .regex(/^\d{12}$/, { error: 'must be an AWS account id of 12 digits, such as "111122223333"' })
  .describe('AWS account id of 12 digits in quotes, such as `"111122223333"`');
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
  sender: sender.describe(
    "AWS account of the sender: its id in quotes, or `own`, the AWS account that Skyhook runs in",
  ),
  operations: operations.optional().meta({
    description: "Operations that this sender may run, within those of the account",
    default: "all",
  }),
  projects: projects.optional().meta({
    description: "Projects that this sender may use, within those of the account",
    default: "all",
  }),
});

const atMost = (limitMs: number, rule: string) =>
  duration()
    .refine((durationMs) => durationMs <= limitMs, { error: rule })
    .optional();
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
  default: deadline.describe(
    "Deadline of the operations that are not listed here, at most `7d`. Default: `2h`",
  ),
  ...Object.fromEntries(
    COMMANDED_IDS.map((id) => [id, deadline.describe(`Deadline of ${id} commands, at most 7d`)]),
  ),
});

const apiKeySchema = z
  .union(
    [
      z.strictObject({
        parameter: z
          .string()
          .regex(/^\/[\w./-]{1,1010}$/, {
            error: "the name of an SSM parameter, with a slash first",
          })
          .describe("Name of an SSM parameter that holds the key, such as `/skyhook/prod/api-key`"),
      }),
      z.strictObject({
        environment: z
          .string()
          .regex(/^[A-Za-z_]\w*$/)
          .describe("Name of an environment variable that holds the key; for local runs only"),
      }),
    ],
    {
      error:
        "must say where the key is: `parameter: /name/of/an/ssm/parameter` or `environment: VARIABLE`; never the key itself",
    },
  )
  .describe(
    "Where Skyhook reads the provider's API key: exactly one of `parameter` and `environment`",
  );

const accountSchema = z.strictObject({
  name: entryName().describe(
    "Name of the account in commands, reactions and events; each name once. 1 to 64 letters, digits, dots, underscores or hyphens; begins with a letter or digit",
  ),
  base_url: baseUrl()
    .optional()
    .describe(
      "Address of the provider's API: http or https, without user, password, query or fragment. Default: the provider of the local run; required in a deployment",
    ),
  api_key: apiKeySchema.optional(),
  senders: z
    .array(
      z
        .union([sender, rightsSchema], { error: ({ input }) => entryRule(input) })
        .describe("`own`, an AWS account id in quotes, or an object with rights"),
    )
    .min(1)
    .describe(
      "AWS accounts that may use the account: `own`, an id in quotes, or an object with narrower rights",
    ),
  operations: operations.optional().meta({
    description: "Operations that any sender may run",
    default: "all",
  }),
  projects: projects.optional().meta({
    description: "Ids of the projects that any sender may use",
    default: "all",
  }),
  requests_per_second: z.int().min(1).max(1_000).optional().meta({
    description: "Rate limit in requests a second, shared by all functions",
    default: 20,
  }),
  task_path: oneOf([TASK_PATH, PUBLISHED_TASK_PATH])
    .optional()
    .meta({ description: "The provider's path of one task", default: TASK_PATH }),
  pool_path: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH])
    .optional()
    .meta({ description: "The provider's path for the update of a pool", default: POOL_PATH }),
  lists: z.boolean().optional().meta({
    description: "Whether the provider's API lists tasks and notification events",
    default: true,
  }),
  settle: atMost(MAX_AMBIGUITY_WINDOW_MS, "at most 1h").describe(
    "Ambiguity window: a request without a reply takes effect within this time or never. A time span such as `90s` or `5m`, at most `1h`. Default: `5m`",
  ),
  max_pause: atMost(LONGEST_MAX_PAUSE_MS, "at most 24h").describe(
    "Longest pause that the provider's `Retry-After` may cause. A time span such as `90s` or `15m`, at most `24h`. Default: `15m`",
  ),
  deadlines: deadlinesSchema
    .optional()
    .describe(
      "Deadlines of commands that name none, by operation. Time spans such as `90s`, `30m`, `2h` or `7d`",
    ),
});

const awsAccountSchema = z.strictObject({
  id: awsAccountId,
  bus: z
    .string()
    .regex(/^arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]{1,256}$/, {
      error:
        "must be the ARN of an event bus, such as arn:aws:events:eu-central-1:111122223333:event-bus/NAME",
    })
    .optional()
    .describe(
      "ARN of the event bus in that AWS account that receives the events of its own commands. Default: none",
    ),
});

/** An accounts file as written. `toAccountsConfig` fills in its defaults. */
export const accountsSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Path or URL of this JSON Schema, for editors"),
    accounts: z
      .array(accountSchema)
      .min(1)
      .describe(
        "Accounts at the provider. Scheduled jobs use the first, unless a stage names another",
      ),
    aws_accounts: z
      .array(awsAccountSchema)
      .optional()
      .describe("Other AWS accounts that may put events on Skyhook's bus. Default: none"),
    organization: z
      .string()
      .regex(/^o-[a-z0-9]{10,32}$/, {
        error: "must be the id of an AWS organization, such as o-abcde12345",
      })
      .optional()
      .describe(
        "Id of an AWS organization, such as `o-abcde12345`: all its AWS accounts may put events on Skyhook's bus. Default: none",
      ),
  })
  .describe("Accounts at the provider, and the AWS accounts that may use them");
