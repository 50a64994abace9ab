import { GetObjectCommand, NoSuchKey, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { ConfigObject, ConfigSource } from "../ports/config-source.ts";

export interface S3ConfigSourceOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
}

/** More than a config file may have: an operator with an oversized object gets an error, not a timeout. */
const FIRST_MEGABYTE = "bytes=0-1000000";

/** Limit of a read with its body. The SDK returns the body as a stream, after the call's own limit. */
const READ_MS = 20_000;

/** S3's error for a range of an empty object. */
const isEmptyObject = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.name === "InvalidRange";

/**
 * A config file in an S3 object; a read returns the last written version. The role also needs
 * `s3:ListBucket`: without it, S3 answers "access denied" for a missing object.
 */
export const createS3ConfigSource = (options: S3ConfigSourceOptions): ConfigSource => {
  const { client, bucket, key } = options;
  const name = `s3://${bucket}/${key}`;
  const readText = async (abortSignal: AbortSignal): Promise<ConfigObject> => {
    const { Body, ETag, VersionId } = await client.send(
      new GetObjectCommand({ Bucket: bucket, Key: key, Range: FIRST_MEGABYTE }),
      { abortSignal },
    );
    return {
      text: (await Body?.transformToString()) ?? "",
      version: VersionId ?? ETag?.replaceAll('"', "") ?? "unknown",
    };
  };
  return {
    name,
    async read() {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), READ_MS);
      try {
        return await readText(limit.signal);
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        if (isEmptyObject(error)) return { text: "", version: "empty" };
        if (limit.signal.aborted) {
          throw new Error(`${name} was not read within ${READ_MS / 1000} s`, { cause: error });
        }
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
