import { InvokeCommand } from "@aws-sdk/client-lambda";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { DEMO_WATCHLIST } from "../../../lib/local/demo-jobs.ts";
import type { DeployedStage } from "../deployed-stage.ts";

export const writeWatchlist = async ({ stack }: DeployedStage): Promise<void> => {
  const Bucket = stack.outputs.ConfigBucketName;
  await stack.aws.s3.send(
    new PutObjectCommand({ Bucket, Key: "watchlist.yaml", Body: DEMO_WATCHLIST }),
  );
};

/** Calls it as its schedule does once an hour. @returns what it answers, or its error */
export const callSnapshotPrices = async ({ stack }: DeployedStage): Promise<string> => {
  const tick = { time: new Date(Date.now()).toISOString() };
  const { Payload } = await stack.aws.lambda.send(
    new InvokeCommand({
      FunctionName: stack.nameOf("snapshot-prices"),
      Payload: JSON.stringify(tick),
    }),
  );
  return Payload?.transformToString() ?? "";
};
