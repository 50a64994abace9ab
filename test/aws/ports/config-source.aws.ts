import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { createS3ConfigSource } from "../../../lib/platform/aws/s3-config-source.ts";
import { describeConfigSourceContract } from "../../contract/ports/config-source-contract.ts";
import { createAwsClients } from "../aws-clients.ts";
import { removeBucket } from "../kept-resources.ts";

const aws = createAwsClients(inject("awsEndpoint"));
const { s3: client } = aws;
const key = "thresholds.yaml";

const openBucket = async () => {
  const bucket = `skyhook-test-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    bucket,
    source: createS3ConfigSource({ client, bucket, key }),
    /** @returns the reply of S3 to the put */
    put: (text: string) =>
      client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: Buffer.from(text) })),
    remove: async () => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    close: () => removeBucket(aws, bucket),
  };
};

/** A bucket like that of infra/config-bucket.cjs, as far as a reader is concerned. */
const openVersionedBucket = async () => {
  const opened = await openBucket();
  const VersioningConfiguration = { Status: "Enabled" as const };
  await client.send(
    new PutBucketVersioningCommand({ Bucket: opened.bucket, VersioningConfiguration }),
  );
  return opened;
};

const withWrite = <T extends Awaited<ReturnType<typeof openBucket>>>(opened: T) => ({
  ...opened,
  write: async (text: string) => {
    await opened.put(text);
  },
});

describeConfigSourceContract("an S3 object, on an emulator", async () =>
  withWrite(await openVersionedBucket()),
);
describeConfigSourceContract("an S3 object without versions, on an emulator", async () =>
  withWrite(await openBucket()),
);

describe("a config in S3", () => {
  test("has the version id of its object", async () => {
    const { source, put, close } = await openVersionedBucket();
    onTestFinished(close);

    const { VersionId } = await put("thresholds: []");

    expect(VersionId).toMatch(/^\S{8,}$/);
    expect(await source.read()).toEqual({ text: "thresholds: []", version: VersionId });
  });

  test("has its entity tag as version in a bucket without versions", async () => {
    const { source, put, close } = await openBucket();
    onTestFinished(close);

    await put("thresholds: []");

    // MD5 of the text.
    expect(await source.read()).toEqual({
      text: "thresholds: []",
      version: "f7699babcbf4082afa47b3d2fec6c298",
    });
  });

  test("is read up to one byte over a megabyte", async () => {
    const { source, put, close } = await openVersionedBucket();
    onTestFinished(close);
    await put("x".repeat(1_500_000));

    expect((await source.read())?.text).toHaveLength(1_000_001);
  });

  test("rejects when the bucket is missing, instead of reporting a missing config", async () => {
    const bucket = `skyhook-test-${randomUUID()}`;

    await expect(createS3ConfigSource({ client, bucket, key }).read()).rejects.toMatchObject({
      name: "NoSuchBucket",
    });
  });
});
