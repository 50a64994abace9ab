import { Option } from "commander";
import { EXIT, ExitError } from "./exit-code.ts";

/** A deployed stage, reached with the AWS credentials and the region of the environment. */
export const stageOption = (): Option =>
  new Option("--stage <name>", "a stage that is deployed on AWS, instead of a running Skyhook");

/** As serverless.yml takes them. @throws ExitError when no stage can be called so */
export const checkedStage = (stage: string): string => {
  if (/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stage)) return stage;
  throw new ExitError(EXIT.refused, "--stage: the name of a deployed stage, such as prod");
};

/** How everything of a stage is called (infra/names.cjs). */
export const stageResource = (stage: string, what: string): string => `skyhook-${stage}-${what}`;
