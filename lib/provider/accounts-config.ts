import * as z from "zod";
import { POOL_PATH } from "../contract/load-balancer-pools.ts";
import { type PlacedProblem, pathText, placedProblemsOf } from "../contract/problem.ts";
import { TASK_PATH } from "../contract/tasks.ts";
import { accountsSchema, OWN } from "./accounts-schema.ts";

export const DEFAULT_REQUESTS_PER_SECOND = 20;
export const DEFAULT_AMBIGUITY_WINDOW_MS = 300_000;
const DEFAULT_MAX_PAUSE_MS = 15 * 60 * 1000;
/** Long enough for every task the provider documents, and the time its own clients wait. */
const DEFAULT_DEADLINE_MS = 2 * 60 * 60 * 1000;

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
  readonly ambiguityWindowMs: number;
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

type FileAccount = z.output<typeof accountsSchema>["accounts"][number];

const rightsOf = (entry: FileAccount["senders"][number]): SenderRights => {
  const {
    sender,
    operations = "all",
    projects = "all",
  } = typeof entry === "string" ? { sender: entry } : entry;
  return { sender, operations, projects };
};

const settingsOf = (account: FileAccount): AccountSettings => {
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
    ambiguityWindowMs: account.settle ?? DEFAULT_AMBIGUITY_WINDOW_MS,
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

type Path = readonly PropertyKey[];

/** The parts of a file that the rules read; the schema reports everything else that is wrong. */
const looseSchema = z.looseObject({
  accounts: z.array(z.looseObject({}).catch({})).catch([]),
  aws_accounts: z.array(z.looseObject({}).catch({})).catch([]),
});
type LooseFile = z.output<typeof looseSchema>;

export const looseFileOf = (content: unknown): LooseFile =>
  looseSchema.safeParse(content).data ?? { accounts: [], aws_accounts: [] };

interface Placed {
  readonly path: Path;
  readonly value: unknown;
}

const duplicates = (placed: readonly Placed[]): readonly PlacedProblem[] =>
  placed.flatMap(({ path, value }) => {
    const first = placed.find((other) => other.value === value)?.path ?? path;
    // The schema reports values that are not text.
    return typeof value !== "string" || first === path
      ? []
      : [{ path, rule: `the same as ${first.map(String).join(".")}` }];
  });

const sendersOf = (senders: unknown, path: Path): readonly Placed[] =>
  (z.array(z.unknown()).safeParse(senders).data ?? []).map((entry, at) => {
    const rights = z.looseObject({}).safeParse(entry).data;
    return rights
      ? { value: rights.sender, path: [...path, at, "sender"] }
      : { value: entry, path: [...path, at] };
  });

/** Each name, sender and AWS account occurs once; only senders that may put events on the bus have rights. */
const namesAndSenders = (file: LooseFile): readonly PlacedProblem[] => {
  // An id without quotes is reported at its own entry, and not for each of its senders.
  const guests = file.aws_accounts.map(({ id }) => String(id).padStart(12, "0"));
  const mayPut = new Set<unknown>([OWN, ...guests]);
  const isStranger = ({ value }: Placed): boolean =>
    file.organization === undefined &&
    typeof value === "string" &&
    /^\d{12}$/.test(value) &&
    !mayPut.has(value);
  const ofSenders = file.accounts.flatMap(({ senders }, index) => {
    const placed = sendersOf(senders, ["accounts", index, "senders"]);
    const rule = "puts no events: not in aws_accounts, no organization";
    return [
      ...duplicates(placed),
      ...placed.filter(isStranger).map(({ path }) => ({ path, rule })),
    ];
  });
  return [
    ...duplicates(
      file.accounts.map(({ name }, index) => ({ path: ["accounts", index, "name"], value: name })),
    ),
    ...ofSenders,
    ...duplicates(
      file.aws_accounts.map(({ id }, index) => ({
        path: ["aws_accounts", index, "id"],
        value: id,
      })),
    ),
  ];
};

/** Fields about the API of a provider that the account names. */
const API_FIELDS = ["task_path", "pool_path", "lists", "settle"];

/** A key must not go to an address that it was not configured for; API fields need the address. */
const addressRules = (file: LooseFile): readonly PlacedProblem[] =>
  file.accounts.flatMap((account, index) => {
    const [fields, rule] =
      account.base_url === undefined
        ? [
            API_FIELDS.filter((field) => account[field] !== undefined),
            "only together with base_url",
          ]
        : [account.api_key === undefined ? ["api_key"] : [], "required with base_url"];
    return fields.map((field) => ({ path: ["accounts", index, field], rule }));
  });

/** The events of an AWS account's commands go to no other AWS account. */
const busesOfOthers = (file: LooseFile): readonly PlacedProblem[] =>
  file.aws_accounts.flatMap(({ id, bus }, index) => {
    const owner = typeof bus === "string" ? /^arn:[^:]*:events:[^:]*:(\d{12}):/.exec(bus)?.[1] : id;
    const rule =
      "bus ARN belongs to a different AWS account; its account id must equal this entry's id";
    return typeof id !== "string" || owner === undefined || owner === id
      ? []
      : [{ path: ["aws_accounts", index, "bus"], rule }];
  });

/** Cross-field rules of every accounts file, on its content as it was read. */
export const commonRules = (file: LooseFile): readonly PlacedProblem[] => [
  ...namesAndSenders(file),
  ...busesOfOthers(file),
];

/** Cross-field rules of a file for a local run, whose own provider serves accounts without `base_url`. */
export const crossFieldRules = (content: unknown): readonly PlacedProblem[] => {
  const file = looseFileOf(content);
  return [...commonRules(file), ...addressRules(file)];
};

/**
 * Reads the accounts that are packaged with a function as JSON.
 * @throws Error naming every problem and no value
 */
export const parseAccounts = (json: unknown): AccountsConfig => {
  const parsed = accountsSchema.safeParse(json);
  const problems = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...crossFieldRules(json),
  ];
  if (parsed.success && problems.length === 0) return toAccountsConfig(parsed.data);
  const texts = problems.map(({ path, rule }) => `${pathText(path)} (${rule})`);
  throw new Error(`wrong accounts: ${texts.join(", ")}`);
};
