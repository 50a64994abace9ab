import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from "@aws-sdk/client-cloudformation";
import type { Closing } from "../../lib/local/closing.ts";
import {
  argumentsOf,
  FIRST,
  OSLS,
  OSLS_CACHE,
  packageService,
  type Stage,
  type Template,
} from "../unit/infra/packaged-service.ts";
import { type AwsClients, awsEnvironment, createAwsClients } from "./aws-clients.ts";
import { adaptPackage, deployMissing } from "./emulator-defects.ts";
import { removeLedger } from "./kept-resources.ts";

const run = promisify(execFile);

/** Time limit of osls, which may hang: it waits for CloudFormation's events in an order that emulators may not keep. */
const OSLS_LIMIT_MS = 120_000;
const DEPLOYABLE = "deployable";

export interface DeployedStack {
  readonly aws: AwsClients;
  /** Name of the CloudFormation stack. */
  readonly name: string;
  /** The name of a resource: `skyhook-<stage>-<thing>`. */
  nameOf(thing: string): string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Resolves with the physical id of a resource. */
  physicalIdOf(logicalId: string): Promise<string>;
  /** Resources of the first package, by logical id. */
  readonly resources: Template["resources"];
  /** Runs osls in the folder of the package, for this stage. @returns its output */
  osls(...args: readonly string[]): Promise<string>;
  /** Packages and deploys again with additional parameters, even if nothing changes. */
  deploy(params: Readonly<Record<string, string>>): Promise<void>;
}

/** Packages a stage like `npm run package`, and deploys the package with osls. */
export const deployStack = async (
  endpoint: string,
  stage: Stage & { readonly name: string },
  closing: Closing,
): Promise<DeployedStack> => {
  const aws = createAwsClients(endpoint);
  const packaged = await packageService(stage);
  closing.add(packaged.remove);
  const { PATH } = process.env;
  const env = { PATH, HOME: packaged.directory, ...OSLS_CACHE, ...awsEnvironment(endpoint) };
  const osls = async (given: Stage, ...args: readonly string[]): Promise<string> => {
    const options = { cwd: packaged.directory, env, timeout: OSLS_LIMIT_MS };
    const command = [OSLS, ...args, ...argumentsOf(given)];
    const { stdout, stderr } = await run(process.execPath, command, options);
    return stdout + stderr;
  };
  const stackName = `skyhook-${stage.name}`;

  const deployFrom = async (folder: string, given: Stage, ...options: readonly string[]) => {
    const deployable = join(packaged.directory, DEPLOYABLE);
    await cp(join(packaged.directory, folder), deployable, { recursive: true });
    const missing = await adaptPackage(deployable);
    await osls(given, "deploy", `--package=${DEPLOYABLE}`, ...options);
    await deployMissing(aws, `${stackName}-events`, missing);
  };
  closing.add(async () => {
    await osls(stage, "remove");
    await removeLedger(aws, `${stackName}-ledger`);
  });
  await deployFrom(FIRST, stage);
  const { Stacks } = await aws.cloudFormation.send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const outputs = Object.fromEntries(
    (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
  return {
    aws,
    name: stackName,
    nameOf: (thing) => `${stackName}-${thing}`,
    outputs,
    async physicalIdOf(LogicalResourceId) {
      const { StackResources = [] } = await aws.cloudFormation.send(
        new DescribeStackResourcesCommand({ StackName: stackName, LogicalResourceId }),
      );
      return String(StackResources[0]?.PhysicalResourceId);
    },
    resources: packaged.resources,
    osls: (...args) => osls(stage, ...args),
    async deploy(params) {
      const changed = { ...stage, params: { ...stage.params, ...params } };
      await packaged.packageStage(changed);
      await deployFrom("other", changed, "--force");
    },
  };
};
