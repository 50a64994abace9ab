import { GetObjectCommand, NoSuchKey, type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { ConfigObject, ConfigSource } from "../ports/config-source.ts";

export interface S3ConfigSourceOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
}

/** One byte more than a config may have: whoever put a film there gets an error and not a timeout. */
const FIRST_MEGABYTE = "bytes=0-1000000";

/** Limit of a read with its body, which the SDK hands out as a stream: the call's limit ends before it. */
const READ_MS = 20_000;

/** The answer to a range of an object without any byte. */
const isEmptyObject = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.name === "InvalidRange";

/**
 * A config in an S3 object; what was last written is what is read. The role needs `s3:ListBucket`
 * too: without it S3 answers "access denied" for an object that is not there.
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
