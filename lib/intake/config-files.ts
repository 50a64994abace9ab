import * as z from "zod";
import { type ConfigProblem, type ConfigReading, readConfig } from "../config/config-file.ts";
import { AI_TASK_NAMES } from "../contract/ai-tasks.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";
import { readDeployedAccounts } from "../provider/accounts-file.ts";
import type { Reaction } from "./reaction.ts";
import { crossFieldProblems, type ReactionContext } from "./reaction-rules.ts";
import { reactionsSchema, toReactions } from "./reactions-config.ts";

/** Reads a reactions file, YAML or JSON, against the accounts. Reports every problem with its line. */
export const readReactions = (
  text: string,
  context: ReactionContext,
): ConfigReading<readonly Reaction[]> => {
  const read = readConfig(reactionsSchema, text, (content) => crossFieldProblems(content, context));
  return read.kind === "valid" ? { kind: "valid", value: toReactions(read.value, context) } : read;
};

interface FoundFile {
  readonly name: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
}

/** The accounts file or the reactions file of a stage. */
interface ConfigFile extends FoundFile {
  /** The repository's example; its name has `example` instead of the stage's name. */
  readonly example: FoundFile;
}

export interface DeploymentInput {
  readonly accounts: ConfigFile;
  readonly reactions: ConfigFile;
  /** Name of the account that the scheduled jobs use; empty for the first account of the file. */
  readonly jobAccount: string;
  /** AI tasks to watch: one of `AI_TASK_NAMES`, empty for all, or `none`. */
  readonly aiTaskName: string;
  /** Whether to create alarms and a dashboard: `yes` or `no`. */
  readonly monitoring: string;
  /** `source` of our own events. */
  readonly eventSource: string;
  readonly stage: string;
  /** Name of the SSM parameter that holds the key of fingerprints and seals. */
  readonly fingerprintKeyParameter: string;
}

/** The fields of reactions that a deployment's template needs. `when` is an event pattern. */
const rulesSchema = z.object({
  reactions: z.array(
    z.object({
      name: z.string(),
      when: z.record(z.string(), z.unknown()),
      bus: z.enum(["skyhook", "default"]).default("skyhook"),
    }),
  ),
});

export type DeploymentReading =
  | {
      readonly kind: "valid";
      readonly accounts: AccountsConfig;
      readonly jobAccount: string;
      readonly rules: z.output<typeof rulesSchema>["reactions"];
      /** Both files converted to JSON, otherwise unchanged. */
      readonly packaged: { readonly accounts: string; readonly reactions: string };
    }
  /** One text per problem: file, line, field and rule. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const problemLines = (
  { name }: ConfigFile,
  problems: readonly ConfigProblem[],
): readonly string[] =>
  problems.map(({ line, path, rule }) =>
    [line === undefined ? name : `${name}:${line}`, path, rule].filter(Boolean).join(": "),
  );

/** Converts to JSON. Integers beyond 2^53 become decimal strings, as in events and messages. */
const toJson = (content: unknown): string =>
  JSON.stringify(content, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );

/** Rules of the stage parameters that the template requires. */
const PARAMETER_RULES: readonly {
  readonly name: "aiTaskName" | "eventSource" | "fingerprintKeyParameter" | "monitoring" | "stage";
  readonly pattern: RegExp;
  readonly rule: string;
}[] = [
  {
    name: "aiTaskName",
    pattern: new RegExp(`^(${["", "none", ...AI_TASK_NAMES].join("|")})$`),
    rule: `must be one of ${AI_TASK_NAMES.join(", ")}, none; or empty for all`,
  },
  { name: "monitoring", pattern: /^(yes|no)$/, rule: "must be yes or no" },
  {
    name: "eventSource",
    pattern: /^(?!aws\.)[\w./-]{1,256}$/,
    rule: "must be a source name such as skyhook, and must not begin with aws.",
  },
  {
    name: "stage",
    pattern: /^[A-Za-z0-9-]{1,12}$/,
    rule: "must have 1 to 12 letters, digits and hyphens, because it is part of the names of rules",
  },
  {
    name: "fingerprintKeyParameter",
    pattern: /^\/[\w./-]{1,1010}$/,
    rule: "must be the name of an SSM parameter, with a slash first",
  },
];

const parameterProblems = (input: DeploymentInput): readonly string[] =>
  PARAMETER_RULES.filter(({ name, pattern }) => !pattern.test(input[name])).map(
    ({ name, rule }) => `${name}: ${rule}`,
  );

/** The only stage that may use the examples. */
const EXAMPLE_STAGE = "dev";

/** A file without its first line if that names a schema: its path is another one in another folder. */
const withoutSchema = (text: string | undefined): string | undefined =>
  text?.replace(/^# yaml-language-server: .*/, "");

/**
 * Reports a file that is missing or equals the example. The examples give rights to account ids of the AWS
 * documentation, so only a stage for trials may use them.
 */
const fileProblems = ({ name, text, example }: ConfigFile, stage: string): readonly string[] => {
  if (text === undefined) {
    return [`${name}: file not found; create it, with ${example.name} as a model`];
  }
  const isExample = withoutSchema(text) === withoutSchema(example.text);
  if (stage === EXAMPLE_STAGE || !isExample) return [];
  const own = example.name.replace("example", stage);
  return name === example.name
    ? [`${name}: only the stage ${EXAMPLE_STAGE} may use the example; write ${own}`]
    : [`${name}: equals ${example.name}, which only the stage ${EXAMPLE_STAGE} may use; edit it`];
};

/** Every problem of a file: that it cannot be used at all, or the mistakes in it. */
const problemsOf = (
  file: ConfigFile,
  reading: ConfigReading<unknown>,
  stage: string,
): readonly string[] => {
  const unusable = fileProblems(file, stage);
  if (unusable.length > 0 || reading.kind === "valid") return unusable;
  return problemLines(file, reading.problems);
};

/** Reads the files and parameters of a deployment. Reports every problem of all of them. Pure. */
export const readConfigFiles = (input: DeploymentInput): DeploymentReading => {
  const { accounts: accountsFile, reactions: reactionsFile, eventSource, stage } = input;
  const [accountsText = "", reactionsText = ""] = [accountsFile.text, reactionsFile.text];

  const accounts = readDeployedAccounts(accountsText);
  const ofAccounts = problemsOf(accountsFile, accounts, stage);
  const config = accounts.kind === "valid" && ofAccounts.length === 0 ? accounts.value : undefined;
  const reactions = readReactions(reactionsText, { accounts: config, eventSource });
  const problems = [
    ...parameterProblems(input),
    ...ofAccounts,
    ...problemsOf(reactionsFile, reactions, stage),
  ];

  const jobAccount = config?.accounts.find(
    ({ name }) => input.jobAccount === "" || name === input.jobAccount,
  );
  if (config && !jobAccount) {
    const names = config.accounts.map(({ name }) => name).join(", ");
    problems.push(`jobAccount: must be an account of ${accountsFile.name}, one of ${names}`);
  }
  const contents = [accountsText, reactionsText].map((text) => readConfig(z.unknown(), text));
  const [accountsJson = "", reactionsJson = ""] = contents.map((reading) =>
    reading.kind === "valid" ? toJson(reading.value) : "",
  );
  if (problems.length > 0 || !config || !jobAccount) return { kind: "invalid", problems };
  return {
    kind: "valid",
    accounts: config,
    jobAccount: jobAccount.name,
    rules: rulesSchema.parse(JSON.parse(reactionsJson)).reactions,
    packaged: { accounts: accountsJson, reactions: reactionsJson },
  };
};
