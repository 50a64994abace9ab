import { type Command, InvalidArgumentError } from "commander";

/** Options of `package` and `deploy` that say what is packaged, as commander reads them. */
export interface StageFlags {
  readonly stage: string;
  /** Absent: the AWS region of the environment. */
  readonly region?: string;
  /** Parameters of the stage by name. */
  readonly param: Readonly<Record<string, string>>;
  /** Existing bucket of the zips; absent: the stack has one. */
  readonly bucket?: string;
}

/** Collects `--param name=value`; a later value replaces an earlier one. */
const addParam = (
  text: string,
  params: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("It must be name=value, such as monitoring=no.");
  }
  return { ...params, [name]: value };
};

export const addStageOptions = (command: Command): Command =>
  command
    .requiredOption("--stage <name>", "required: stage, at most 12 letters, digits and hyphens")
    .option(
      "--region <name>",
      "AWS region (default: AWS_REGION, else AWS_DEFAULT_REGION, else us-east-1)",
    )
    .option("--param <name=value>", "parameter of the stage; may be repeated", addParam, {})
    .option("--bucket <name>", "existing bucket for the zips (default: one in the stack)");
