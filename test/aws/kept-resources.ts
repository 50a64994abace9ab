import { DeleteTableCommand, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
} from "@aws-sdk/client-s3";
import type { AwsClients } from "./aws-clients.ts";

/*
 * What a stage leaves behind when its stack is removed, and how it is deleted for good: README, "Remove
 * a stage".
 */

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

/** Deletes a ledger's table with everything in it. */
export const removeLedger = async (
  { dynamoDb }: Pick<AwsClients, "dynamoDb">,
  TableName: string,
): Promise<void> => {
  await dynamoDb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await dynamoDb.send(new DeleteTableCommand({ TableName }));
};
