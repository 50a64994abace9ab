import {
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
} from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import * as z from "zod";
import type { Admin } from "../../admin/admin.ts";
import { viewAiTasks } from "../../admin/ai-tasks-view.ts";
import type { JobName } from "../../admin/job-run.ts";
import { viewThresholds } from "../../admin/thresholds-view.ts";
import { parseJson } from "../../contract/json.ts";
import { listPrices, priceChanges, priceHistory } from "../../jobs/prices/memory.ts";
import { priceTotals } from "../../jobs/prices/totals.ts";
import { createAwsClient, untilWorkEnds } from "../../platform/aws/aws-client.ts";
import { createS3ConfigSource } from "../../platform/aws/s3-config-source.ts";
import { timeoutMsOf } from "../../platform/deployment.ts";
import { once } from "../../platform/lambda/invocation.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { visibleText } from "../render.ts";
import type { Ports } from "../verb.ts";
import { awsTrouble, stageResource } from "./aws.ts";
import type { StageLedger } from "./stage-ledger.ts";

/** Payload of a function error, as Lambda reports it. */
const failureSchema = z.object({
  errorType: z.string().optional(),
  errorMessage: z.string().optional(),
});

const problemOf = (payload: string, functionError: string): string => {
  const { errorType, errorMessage } = failureSchema.safeParse(parseJson(payload)).data ?? {};
  return [errorType, errorMessage].filter(Boolean).join(": ") || functionError;
};

const isThrottled = (error: unknown): boolean =>
  error instanceof Error && error.name === "TooManyRequestsException";

/**
 * Invokes the function of a scheduled job like its schedule (infra/schedules.cjs), with the AWS credentials
 * of the environment, and waits for its end.
 * @throws ExitError when AWS does not answer or refuses, or the function fails
 */
export const invokeJob = async (
  stage: string,
  name: JobName,
  { clock, random }: Ports,
): Promise<void> => {
  const FunctionName = stageResource(stage, name);
  const tick = { id: random.uuid(), time: new Date(clock.now()).toISOString() };
  const client = createAwsClient(LambdaClient, untilWorkEnds(timeoutMsOf(name)));
  const command = new InvokeCommand({
    FunctionName,
    InvocationType: "RequestResponse",
    Payload: JSON.stringify(tick),
  });
  const reply = await client.send(command).catch((error: unknown) => {
    if (isThrottled(error)) {
      const text = `${name} was not started: Lambda throttles its function; try again later`;
      throw new ExitError(EXIT.failed, text);
    }
    throw awsTrouble(error, `no function ${FunctionName} in this AWS account and region`);
  });
  if (reply.FunctionError === undefined) return;
  const problem = problemOf(reply.Payload?.transformToString() ?? "", reply.FunctionError);
  throw new ExitError(EXIT.failed, `${name} failed: ${visibleText(problem)}`);
};

const settingsSchema = z.object({
  JOB_ACCOUNT: z.string(),
  CONFIG_BUCKET: z.string(),
  CONFIG_KEY: z.string(),
});

/** Settings of the stage's jobs, from the environment of the function that syncs thresholds. */
const readSettings = async (stage: string): Promise<z.output<typeof settingsSchema>> => {
  const FunctionName = stageResource(stage, "sync-thresholds");
  const command = new GetFunctionConfigurationCommand({ FunctionName });
  const { Environment } = await createAwsClient(LambdaClient)
    .send(command)
    .catch((error: unknown) => {
      throw awsTrouble(error, `no function ${FunctionName} in this AWS account and region`);
    });
  return settingsSchema.parse(Environment?.Variables);
};

/** What the scheduled jobs of a stage have recorded, and their runs. */
export const stageJobs = (
  { ledger, at }: StageLedger,
  stage: string,
  ports: Ports,
): Pick<Required<Admin>, "aiTasks" | "prices" | "runJob" | "thresholds"> => {
  const settings = once(() => readSettings(stage));
  const account = async (): Promise<string> => (await settings()).JOB_ACCOUNT;
  return {
    prices: {
      list: () => at(async () => listPrices(ledger, await account())),
      history: (item) => at(async () => priceHistory(ledger, await account(), item)),
      changes: (since, item) => at(async () => priceChanges(ledger, await account(), since, item)),
      totals: () => at(async () => priceTotals(ledger, await account())),
    },
    aiTasks: (query) => at(async () => viewAiTasks(ledger, await account(), query)),
    thresholds: () =>
      at(async () => {
        const { CONFIG_BUCKET: bucket, CONFIG_KEY: key } = await settings();
        const source = createS3ConfigSource({ client: createAwsClient(S3Client), bucket, key });
        return viewThresholds({ ledger, source, account: await account(), provider: undefined });
      }),
    async runJob(name) {
      await invokeJob(stage, name, ports);
      return { kind: "ended", events: [], notes: ["its events and its log show the results"] };
    },
  };
};
