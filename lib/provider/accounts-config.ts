import * as z from "zod";
import { POOL_PATH } from "../contract/load-balancer-pools.ts";
import { type PlacedProblem, pathText, placedProblemsOf } from "../contract/problem.ts";
import { TASK_PATH } from "../contract/tasks.ts";
import { accountsSchema, OWN } from "./accounts-schema.ts";

export const DEFAULT_REQUESTS_PER_SECOND = 20;
export const DEFAULT_AMBIGUITY_WINDOW_MS = 300_000;
const DEFAULT_MAX_PAUSE_MS = 15 * 60 * 1000;
/** Covers every task that the provider documents; its own clients wait as long. */
const DEFAULT_DEADLINE_MS = 2 * 60 * 60 * 1000;

type Operations = "all" | readonly string[];
type Projects = "all" | readonly number[];

/** Rights of one AWS account on an account at the provider, within the limits of that account. */
export interface SenderRights {
  /** An AWS account id, or `own` for the one that Skyhook runs in. */
  readonly sender: string;
  readonly operations: Operations;
  readonly projects: Projects;
}

export interface AccountSettings {
  readonly name: string;
  /** Undefined for an account at the provider of the local run. */
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
  /** Longest pause that the provider may ask for. */
  readonly maxPauseMs: number;
  /** Time limits of commands that name no deadline, by operation id or `default`. */
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

/** Fills in the defaults of an accounts file that the schema and the cross-field rules have accepted. */
export const toAccountsConfig = (file: z.output<typeof accountsSchema>): AccountsConfig => ({
  accounts: file.accounts.map(settingsOf),
  awsAccounts: (file.aws_accounts ?? []).map(({ id, bus }) => ({ id, bus })),
  organization: file.organization,
});

/** A config of one account on which our own AWS account has all rights. */
export const ownAccount = (
  accountName: string,
  requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND,
): AccountsConfig =>
  toAccountsConfig({
    accounts: [{ name: accountName, senders: [OWN], requests_per_second: requestsPerSecond }],
  });

type Path = readonly PropertyKey[];

/** The parts of a file that the cross-field rules read. The schema reports all other problems. */
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
    // The schema reports values that are not strings.
    return typeof value !== "string" || first === path
      ? []
      : [{ path, rule: `duplicate of ${first.map(String).join(".")}` }];
  });

const sendersOf = (senders: unknown, path: Path): readonly Placed[] =>
  (z.array(z.unknown()).safeParse(senders).data ?? []).map((entry, at) => {
    const rights = z.looseObject({}).safeParse(entry).data;
    return rights
      ? { value: rights.sender, path: [...path, at, "sender"] }
      : { value: entry, path: [...path, at] };
  });

/** Requires unique names, senders and AWS accounts, and senders that may put events on the bus. */
const namesAndSenders = (file: LooseFile): readonly PlacedProblem[] => {
  // An id without quotes is reported once, at its own entry, and not again for each of its senders.
  const guests = file.aws_accounts.map(({ id }) => String(id).padStart(12, "0"));
  const mayPut = new Set<unknown>([OWN, ...guests]);
  const isStranger = ({ value }: Placed): boolean =>
    file.organization === undefined &&
    typeof value === "string" &&
    /^\d{12}$/.test(value) &&
    !mayPut.has(value);
  const ofSenders = file.accounts.flatMap(({ senders }, index) => {
    const placed = sendersOf(senders, ["accounts", index, "senders"]);
    const rule = "may not put events on the bus: add it to aws_accounts, or set organization";
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

/** Fields that describe the API at `base_url`. */
const API_FIELDS = ["task_path", "pool_path", "lists", "settle"];

/**
 * Requires a key for each address, so that no key goes to an address that it was not configured for, and
 * an address for the fields that describe its API.
 */
const addressRules = (file: LooseFile): readonly PlacedProblem[] =>
  file.accounts.flatMap((account, index) => {
    const [fields, rule] =
      account.base_url === undefined
        ? [
            API_FIELDS.filter((field) => account[field] !== undefined),
            "allowed only together with base_url",
          ]
        : [account.api_key === undefined ? ["api_key"] : [], "required together with base_url"];
    return fields.map((field) => ({ path: ["accounts", index, field], rule }));
  });

/** Requires each bus to belong to its AWS account: no other one may receive the events of its commands. */
const foreignBuses = (file: LooseFile): readonly PlacedProblem[] =>
  file.aws_accounts.flatMap(({ id, bus }, index) => {
    const owner = typeof bus === "string" ? /^arn:[^:]*:events:[^:]*:(\d{12}):/.exec(bus)?.[1] : id;
    const rule =
      "bus ARN belongs to a different AWS account; its account id must equal this entry's id";
    return typeof id !== "string" || owner === undefined || owner === id
      ? []
      : [{ path: ["aws_accounts", index, "bus"], rule }];
  });

/** Cross-field rules of every accounts file, applied to its content as parsed from YAML or JSON. */
export const commonRules = (file: LooseFile): readonly PlacedProblem[] => [
  ...namesAndSenders(file),
  ...foreignBuses(file),
];

/** Cross-field rules for a local run, where accounts may leave out `base_url`. */
export const crossFieldRules = (content: unknown): readonly PlacedProblem[] => {
  const file = looseFileOf(content);
  return [...commonRules(file), ...addressRules(file)];
};

/**
 * Reads the accounts file that is packaged with a function as JSON.
 * @throws Error with every problem, and without any value of the file
 */
export const parseAccounts = (json: unknown): AccountsConfig => {
  const parsed = accountsSchema.safeParse(json);
  const problems = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...crossFieldRules(json),
  ];
  if (parsed.success && problems.length === 0) return toAccountsConfig(parsed.data);
  const texts = problems.map(({ path, rule }) => `${pathText(path)} (${rule})`);
  throw new Error(`invalid accounts file: ${texts.join(", ")}`);
};
