import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
} from "@aws-sdk/client-s3";
import type { AwsClients } from "./aws-clients.ts";

/** Removes a bucket with every version of what is in it. */
export const removeBucket = async (
  { s3 }: Pick<AwsClients, "s3">,
  Bucket: string,
): Promise<void> => {
  const { Versions = [], DeleteMarkers = [] } = await s3.send(
    new ListObjectVersionsCommand({ Bucket }),
  );
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
    await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
  }
  await s3.send(new DeleteBucketCommand({ Bucket }));
};
