import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";
import { readEnvironment } from "../../../lib/platform/lambda/settings.ts";
import { checkStage } from "./check-stage.ts";

const id = z.string().regex(/^\d+$/, { error: "must be a number" }).transform(Number);

const settingsSchema = z.object({
  SKYHOOK_STAGE: z.string(),
  SKYHOOK_PROJECT_ID: id,
  SKYHOOK_REGION_ID: id,
  SKYHOOK_ACCOUNT: z.string().optional(),
  SKYHOOK_EVENT_SOURCE: z.string().default("skyhook"),
});

/** Uses the same credentials and region as the AWS CLI. */
checkStage(async () => {
  const settings = readEnvironment(settingsSchema, process.env);
  const stackName = `skyhook-${settings.SKYHOOK_STAGE}`;
  const { Stacks } = await new CloudFormationClient().send(
    new DescribeStacksCommand({ StackName: stackName }),
  );
  const [, , , , awsAccount = ""] = Stacks?.[0]?.StackId?.split(":") ?? [];
  return {
    aws: {
      eventBridge: new EventBridgeClient(),
      lambda: new LambdaClient(),
      sqs: new SQSClient(),
    },
    stackName,
    awsAccount,
    eventSource: settings.SKYHOOK_EVENT_SOURCE,
    account: settings.SKYHOOK_ACCOUNT,
    projectId: settings.SKYHOOK_PROJECT_ID,
    regionId: settings.SKYHOOK_REGION_ID,
  };
});
