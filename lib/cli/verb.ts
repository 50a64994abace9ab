import { type Command, InvalidArgumentError, Option } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { shellWord } from "./render.ts";

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** Whether the user typed a name; the options of a subcommand with another name are not needed. */
export type IsUsed = (name: string) => boolean;

const HELP = ["--help", "-h", "help"];

/**
 * Those of several subcommands that a call needs: only the used ones, because declaring all takes as long as a request.
 * The help lists all, and an unknown name is compared with all.
 */
export const needed = <T>(
  subcommands: readonly T[],
  nameOf: (subcommand: T) => string,
  isUsed: IsUsed,
): readonly T[] => {
  const used = subcommands.filter((subcommand) => isUsed(nameOf(subcommand)));
  return used.length === 0 || HELP.some(isUsed) ? subcommands : used;
};

/**
 * Declares the arguments, options and action of a verb, or its subcommands.
 * @param isUsed default: every name
 */
export type DeclareVerb = (command: Command, ports: Ports, isUsed?: IsUsed) => void;

/** Makes the result of an action the exit status of the program. */
export const ending =
  <A extends unknown[]>(action: (...args: A) => Promise<ExitCode> | ExitCode) =>
  async (...args: A): Promise<void> => {
    process.exitCode = await action(...args);
  };

/** Reads an argument that a script may leave empty by mistake. @throws InvalidArgumentError for an empty one */
export const notEmpty = (text: string): string => {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
};

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Adds lines for a shell to the help of a command, and to docs/reference/cli.md. */
export const addExamples = (command: Command, lines: readonly string[]): Command => {
  EXAMPLES.set(command, lines);
  return command.addHelpText(
    "after",
    `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`,
  );
};

/** The lines of `addExamples`; empty where there are none. */
export const examplesOf = (command: Command): readonly string[] => EXAMPLES.get(command) ?? [];

/** The option for the address of a running Skyhook. */
export const endpointOption = (): Option =>
  new Option("--endpoint <url>", "address of the running Skyhook (default: the last run)").env(
    "SKYHOOK_ENDPOINT",
  );

/** The option for a deployed stage, reached with the AWS credentials and the region of the environment. */
export const stageOption = (): Option =>
  new Option("--stage <name>", "stage deployed on AWS, instead of a running Skyhook");

/** Text for the description of a verb with `--stage`. @param actions IAM actions in words */
export const stageRights = (actions: string): string =>
  `With --stage it uses the AWS credentials and the region of the environment, and needs ${actions}.`;

/** Checks a stage's name by the rule of serverless.yml. @throws ExitError for any other name */
export const checkedStage = (stage: string): string => {
  if (/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stage)) return stage;
  throw new ExitError(EXIT.refused, "--stage: must be the name of a deployed stage, such as prod");
};

interface TargetFlags {
  readonly endpoint?: string | undefined;
  readonly stage?: string | undefined;
  readonly sender?: string | undefined;
}

/**
 * The options that lead the next call to the same command.
 * @param known the endpoint of a call without options
 */
export const sameTargetFlags = (
  { endpoint, stage, sender }: TargetFlags,
  known = process.env.SKYHOOK_ENDPOINT,
): string => {
  const where =
    stage === undefined
      ? endpoint !== undefined && endpoint !== known && ` --endpoint ${shellWord(endpoint)}`
      : ` --stage ${stage}`;
  return `${where || ""}${sender === undefined ? "" : ` --sender ${shellWord(sender)}`}`;
};
