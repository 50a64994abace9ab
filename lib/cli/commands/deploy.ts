import { canAsk, confirmed } from "../confirm.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printNote, printResult } from "../render.ts";
import { addStageOptions, type StageFlags } from "../stage/stage-options.ts";
import { stopSignal } from "../stop-signal.ts";
import { addExamples, type DeclareVerb, ending, type Ports } from "../verb.ts";

interface DeployFlags extends StageFlags {
  /** Deploys without asking. */
  readonly yes?: boolean;
}

const agreesOf =
  (flags: DeployFlags) =>
  async (question: string): Promise<boolean | undefined> => {
    if (flags.yes) return true;
    return canAsk() ? confirmed(question) : undefined;
  };

const runDeploy = async (flags: DeployFlags, { clock, random }: Ports): Promise<ExitCode> => {
  const { packageHere } = await import("../stage/stage-package.ts");
  const stage = await packageHere(flags);
  const { createAwsStacks } = await import("../stage/aws-stacks.ts");
  const { deployStage } = await import("../stage/deploy.ts");
  const { awsTrouble } = await import("../admin/aws.ts");
  const deps = {
    stacks: createAwsStacks(stage.region),
    clock,
    random,
    signal: stopSignal(clock),
    show: printResult,
    note: printNote,
    agrees: agreesOf(flags),
  };
  try {
    const { isChanged, outputs } = await deployStage(stage, flags.bucket, deps);
    printResult(
      isChanged
        ? `deployed the stack ${stage.stackName} in ${stage.region}`
        : `nothing to change in the stack ${stage.stackName} in ${stage.region}`,
    );
    for (const [name, value] of Object.entries(outputs)) printResult(`  ${name}: ${value}`);
  } catch (error) {
    throw awsTrouble(error, `no such resource in ${stage.region}`);
  }
  return EXIT.ok;
};

const DESCRIPTION = `Deploys a stage with CloudFormation: packages it like skyhook package, uploads the zips, shows the changes and asks before it makes them. Without a terminal it needs --yes.

The first deployment creates the stack with a bucket for the zips alone, and asks; then it shows and asks for everything else. With --bucket the zips go to that bucket, and the stack has none.

It uses the AWS credentials of the environment, which must be allowed to deploy a stack with IAM roles.`;

export const declareDeploy: DeclareVerb = (command, ports) => {
  addExamples(
    addStageOptions(command.description(DESCRIPTION)).option(
      "--yes",
      "deploy without confirmation",
    ),
    [
      "npx skyhook deploy --stage dev",
      "npx skyhook deploy --stage prod --region eu-central-1 --yes",
      "npx skyhook deploy --stage prod --bucket our-zips",
    ],
  ).action(ending((flags: DeployFlags) => runDeploy(flags, ports)));
};
