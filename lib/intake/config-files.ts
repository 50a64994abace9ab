import * as z from "zod";
import { type ConfigProblem, type ConfigReading, readConfig } from "../config/config-file.ts";
import { AI_TASK_NAMES } from "../contract/ai-tasks.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";
import { readDeployedAccounts } from "../provider/accounts-file.ts";
import type { Reaction } from "./reaction.ts";
import { crossFieldProblems, type ReactionContext } from "./reaction-rules.ts";
import { reactionsSchema, toReactions } from "./reactions-config.ts";

/** Reads a reactions file, YAML or JSON. Reports every problem with its line. */
export const readReactions = (
  text: string,
  context: ReactionContext,
): ConfigReading<readonly Reaction[]> => {
  const read = readConfig(reactionsSchema, text, (content) => crossFieldProblems(content, context));
  return read.kind === "valid" ? { kind: "valid", value: toReactions(read.value, context) } : read;
};

interface FoundFile {
  readonly name: string;
  /** Undefined when there is no such file. */
  readonly text: string | undefined;
}

/** One of the two files that describe a stage. */
interface ConfigFile extends FoundFile {
  /** The repository's example; its name has `example` in the place of a stage's name. */
  readonly example: FoundFile;
}

export interface DeploymentInput {
  readonly accounts: ConfigFile;
  readonly reactions: ConfigFile;
  /** Name of the account that the scheduled jobs use; empty: the first of the file. */
  readonly jobAccount: string;
  /** Which AI tasks are watched: a method of `AI_TASK_NAMES`, all when empty, or `none`. */
  readonly aiTaskName: string;
  /** Whether there are alarms and a dashboard: `yes` or `no`. */
  readonly monitoring: string;
  /** `source` of our own events. */
  readonly eventSource: string;
  readonly stage: string;
  /** Name of the SSM parameter with the key of fingerprints and seals. */
  readonly fingerprintKeyParameter: string;
}

/** The part of the reactions that the template of a deployment needs. `when` is an event pattern. */
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
      /** The two files as JSON, in their own shape. */
      readonly packaged: { readonly accounts: string; readonly reactions: string };
    }
  /** One line each: the file, the line, and the rule. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const problemLines = (
  { name }: ConfigFile,
  problems: readonly ConfigProblem[],
): readonly string[] =>
  problems.map(({ line, path, rule }) =>
    [line === undefined ? name : `${name}:${line}`, path, rule].filter(Boolean).join(": "),
  );

/** Integers that a number cannot hold are decimal texts, as everywhere outside of a file. */
const toJson = (content: unknown): string =>
  JSON.stringify(content, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );

/** Rules of the stage parameters, so that the template can be deployed. */
const PARAMETER_RULES: readonly {
  readonly name: "aiTaskName" | "eventSource" | "fingerprintKeyParameter" | "monitoring" | "stage";
  readonly pattern: RegExp;
  readonly rule: string;
}[] = [
  {
    name: "aiTaskName",
    pattern: new RegExp(`^(${["", "none", ...AI_TASK_NAMES].join("|")})$`),
    rule: `one of ${AI_TASK_NAMES.join(", ")}, none; or empty for all`,
  },
  { name: "monitoring", pattern: /^(yes|no)$/, rule: "yes or no" },
  {
    name: "eventSource",
    pattern: /^(?!aws\.)[\w./-]{1,256}$/,
    rule: "a name such as skyhook, which does not begin with aws.",
  },
  {
    name: "stage",
    pattern: /^[A-Za-z0-9-]{1,12}$/,
    rule: "at most 12 letters, digits and hyphens: names of rules have room for no more",
  },
  {
    name: "fingerprintKeyParameter",
    pattern: /^\/[\w./-]{1,1010}$/,
    rule: "the name of an SSM parameter, which begins with a slash",
  },
];

const parameterProblems = (input: DeploymentInput): readonly string[] =>
  PARAMETER_RULES.filter(({ name, pattern }) => !pattern.test(input[name])).map(
    ({ name, rule }) => `${name}: ${rule}`,
  );

/** The one stage that may be built from the examples. */
const EXAMPLE_STAGE = "dev";

/**
 * Reports a file that is missing or is the example. The examples give rights to AWS account ids of
 * the AWS documentation, so no stage but one for trials may be built from them.
 */
const fileProblems = ({ name, text, example }: ConfigFile, stage: string): readonly string[] => {
  if (text === undefined) {
    return [`${name}: no such file; ${example.name} shows what belongs in it`];
  }
  if (stage === EXAMPLE_STAGE || text !== example.text) return [];
  const own = example.name.replace("example", stage);
  return [`${name}: the example, which is for the stage ${EXAMPLE_STAGE} only; write ${own}`];
};

const invalid = (problems: readonly string[]): DeploymentReading => ({ kind: "invalid", problems });

/** Reads what a deployment is made from. Reports every problem of both files. Pure. */
export const readConfigFiles = (input: DeploymentInput): DeploymentReading => {
  const { accounts: accountsFile, reactions: reactionsFile, eventSource } = input;
  const unusable = [accountsFile, reactionsFile].flatMap((file) => fileProblems(file, input.stage));
  if (unusable.length > 0) return invalid([...parameterProblems(input), ...unusable]);
  const [accountsText = "", reactionsText = ""] = [accountsFile.text, reactionsFile.text];

  const accounts = readDeployedAccounts(accountsText);
  const config = accounts.kind === "valid" ? accounts.value : undefined;
  const reactions = readReactions(reactionsText, { accounts: config, eventSource });
  const problems = [
    ...parameterProblems(input),
    ...(accounts.kind === "invalid" ? problemLines(accountsFile, accounts.problems) : []),
    ...(reactions.kind === "invalid" ? problemLines(reactionsFile, reactions.problems) : []),
  ];

  const jobAccount = config?.accounts.find(
    ({ name }) => input.jobAccount === "" || name === input.jobAccount,
  );
  if (config && !jobAccount) problems.push(`jobAccount: ${accountsFile.name} has no such account`);
  const contents = [accountsText, reactionsText].map((text) => readConfig(z.unknown(), text));
  const [accountsJson = "", reactionsJson = ""] = contents.map((reading) =>
    reading.kind === "valid" ? toJson(reading.value) : "",
  );
  if (problems.length > 0 || !config || !jobAccount) return invalid(problems);
  return {
    kind: "valid",
    accounts: config,
    jobAccount: jobAccount.name,
    rules: rulesSchema.parse(JSON.parse(reactionsJson)).reactions,
    packaged: { accounts: accountsJson, reactions: reactionsJson },
  };
};
