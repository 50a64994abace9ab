import { PutObjectCommand } from "@aws-sdk/client-s3";
import { DEMO_WATCHLIST } from "../../../lib/cli/demo/world.ts";
import type { DeployedStage } from "../deployed-stage.ts";

/** Uploads the watchlist of the demo to the config bucket. */
export const writeWatchlist = async ({ stack }: DeployedStage): Promise<void> => {
  const Bucket = stack.outputs.ConfigBucketName;
  await stack.aws.s3.send(
    new PutObjectCommand({ Bucket, Key: "watchlist.yaml", Body: DEMO_WATCHLIST }),
  );
};
