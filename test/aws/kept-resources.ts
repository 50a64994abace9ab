import { DeleteTableCommand, UpdateTableCommand } from "@aws-sdk/client-dynamodb";
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
} from "@aws-sdk/client-s3";
import type { AwsClients } from "./aws-clients.ts";

/*
 * Deletes the resources that outlive the stack of a stage, as docs/operate/remove-a-stage.md describes it.
 */

/** Deletes a bucket with every version of its objects. */
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

/** Deletes the table of a ledger, which is protected against deletion. */
export const removeLedger = async (
  { dynamoDb }: Pick<AwsClients, "dynamoDb">,
  TableName: string,
): Promise<void> => {
  await dynamoDb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await dynamoDb.send(new DeleteTableCommand({ TableName }));
};
