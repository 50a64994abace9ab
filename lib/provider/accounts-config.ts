import * as z from "zod";
import { baseUrl } from "../config/base-url.ts";
import { duration } from "../config/duration.ts";
import { entryName } from "../config/entry-name.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { COMMANDED_IDS } from "../contract/operations.ts";
import { problemsOf } from "../contract/problem.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { oneOf } from "../contract/values.ts";
import { MAX_DEADLINE_MS } from "../ledger/retention.ts";

/** In a config, the AWS account that Skyhook itself runs in. */
export const OWN = "own";

const DEFAULT_REQUESTS_PER_SECOND = 20;
const DEFAULT_SETTLE_MS = 300_000;
const MAX_SETTLE_MS = 60 * 60 * 1000;
const DEFAULT_MAX_PAUSE_MS = 15 * 60 * 1000;
const LONGEST_MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** Long enough for every task the provider documents, and the time its own clients wait. */
const DEFAULT_DEADLINE_MS = 2 * 60 * 60 * 1000;

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

/** Of rights, what is wrong with them: that they are no AWS account id would help nobody. */
const entryRule = (input: unknown): string => {
  if (typeof input !== "object" || input === null) return ENTRY_RULE;
  const issues = rightsSchema.safeParse(input).error?.issues ?? [];
  return problemsOf(issues)
    .map(({ path, rule }) => `${path}: ${rule}`)
    .join("; ");
};

/** By operation, for commands that name no deadline. */
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
    .describe("Request budget (default: 20)"),
  task_path: oneOf([TASK_PATH, PUBLISHED_TASK_PATH]).optional(),
  pool_path: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH]).optional(),
  lists: z
    .boolean()
    .optional()
    .describe("Whether its API lists tasks and notification events (default: true)"),
  settle: atMost(MAX_SETTLE_MS, "at most 1h").describe(
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

/** What people may write. */
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

type Operations = "all" | readonly string[];
type Projects = "all" | readonly number[];

/** What one AWS account may do with an account, within what the account allows at all. */
export interface SenderRights {
  /** An AWS account id, or `own`. */
  readonly sender: string;
  readonly operations: Operations;
  readonly projects: Projects;
}

export interface AccountSettings {
  readonly name: string;
  /** Absent in a local run: the provider of that run. */
  readonly baseUrl: string | undefined;
  readonly apiKey: { readonly parameter: string } | { readonly environment: string } | undefined;
  readonly senders: readonly SenderRights[];
  readonly operations: Operations;
  readonly projects: Projects;
  readonly requestsPerSecond: number;
  readonly taskPath: string;
  readonly poolPath: string;
  readonly canList: boolean;
  readonly settleMs: number;
  /** The longest pause that the provider may ask for. */
  readonly maxPauseMs: number;
  /** By operation id, and `default`; of commands that name no deadline. */
  readonly deadlinesMs: { readonly default: number; readonly [operation: string]: number };
}

export interface AwsAccount {
  readonly id: string;
  /** ARN of the event bus that the events of its commands go to. */
  readonly bus: string | undefined;
}

export interface AccountsConfig {
  readonly accounts: readonly AccountSettings[];
  readonly awsAccounts: readonly AwsAccount[];
  /** Id of an AWS organization. */
  readonly organization: string | undefined;
}

const rightsOf = (entry: z.output<typeof accountSchema>["senders"][number]): SenderRights => {
  const {
    sender,
    operations = "all",
    projects = "all",
  } = typeof entry === "string" ? { sender: entry } : entry;
  return { sender, operations, projects };
};

const settingsOf = (account: z.output<typeof accountSchema>): AccountSettings => {
  const deadlines = z.record(z.string(), z.number()).parse(account.deadlines ?? {});
  return {
    name: account.name,
    baseUrl: account.base_url,
    apiKey: account.api_key,
    senders: account.senders.map(rightsOf),
    operations: account.operations ?? "all",
    projects: account.projects ?? "all",
    requestsPerSecond: account.requests_per_second ?? DEFAULT_REQUESTS_PER_SECOND,
    taskPath: account.task_path ?? TASK_PATH,
    poolPath: account.pool_path ?? POOL_PATH,
    canList: account.lists ?? true,
    settleMs: account.settle ?? DEFAULT_SETTLE_MS,
    maxPauseMs: account.max_pause ?? DEFAULT_MAX_PAUSE_MS,
    deadlinesMs: { default: DEFAULT_DEADLINE_MS, ...deadlines },
  };
};

export const toAccountsConfig = (file: z.output<typeof accountsSchema>): AccountsConfig => ({
  accounts: file.accounts.map(settingsOf),
  awsAccounts: (file.aws_accounts ?? []).map(({ id, bus }) => ({ id, bus })),
  organization: file.organization,
});

/** One account that our own AWS account may use for everything. */
export const ownAccount = (
  accountName: string,
  requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND,
): AccountsConfig =>
  toAccountsConfig({
    accounts: [{ name: accountName, senders: [OWN], requests_per_second: requestsPerSecond }],
  });
