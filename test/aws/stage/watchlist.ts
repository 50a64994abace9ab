import { PutObjectCommand } from "@aws-sdk/client-s3";
import { DEMO_WATCHLIST } from "../../../lib/cli/demo/world.ts";
import type { DeployedStage } from "../deployed-stage.ts";

/** Puts the demo's watchlist where snapshot-prices reads it. */
export const writeWatchlist = async ({ stack }: DeployedStage): Promise<void> => {
  const Bucket = stack.outputs.ConfigBucketName;
  await stack.aws.s3.send(
    new PutObjectCommand({ Bucket, Key: "watchlist.yaml", Body: DEMO_WATCHLIST }),
  );
};
