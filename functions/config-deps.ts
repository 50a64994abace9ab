import { S3Client } from "@aws-sdk/client-s3";
import type * as z from "zod";
import { createAwsClient } from "../lib/platform/aws/aws-client.ts";
import { createS3ConfigSource } from "../lib/platform/aws/s3-config-source.ts";
import type { ConfigSource } from "../lib/platform/ports/config-source.ts";
import { createJobDeps, type JobDeps } from "./deps.ts";
import type { configSettingsSchema } from "./settings.ts";

/** What a function is composed of that does what a config says. */
export interface ConfigFunctionDeps extends JobDeps {
  readonly source: ConfigSource;
}

export const createConfigFunctionDeps = (
  settings: z.output<typeof configSettingsSchema>,
): ConfigFunctionDeps => {
  const { CONFIG_BUCKET: bucket, CONFIG_KEY: key } = settings;
  return {
    ...createJobDeps(settings),
    source: createS3ConfigSource({ client: createAwsClient(S3Client), bucket, key }),
  };
};
