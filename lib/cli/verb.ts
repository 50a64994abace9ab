import { type Command, Option } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** Declares the arguments, options and action of a verb, or its own verbs. */
export type DeclareVerb = (command: Command, ports: Ports) => void;

/** An action of which the result is the exit status of the program. */
export const ending =
  <A extends unknown[]>(action: (...args: A) => Promise<ExitCode> | ExitCode) =>
  async (...args: A): Promise<void> => {
    process.exitCode = await action(...args);
  };

/** Where a running Skyhook listens. */
export const endpointOption = (): Option =>
  new Option(
    "--endpoint <url>",
    "address of the running Skyhook (default: that of the last `skyhook start`)",
  ).env("SKYHOOK_ENDPOINT");

/** A deployed stage, reached with the AWS credentials and the region of the environment. */
export const stageOption = (): Option =>
  new Option("--stage <name>", "a stage that is deployed on AWS, instead of a running Skyhook");

/** As serverless.yml takes them. @throws ExitError for any other name */
export const checkedStage = (stage: string): string => {
  if (/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stage)) return stage;
  throw new ExitError(EXIT.refused, "--stage: the name of a deployed stage, such as prod");
};
