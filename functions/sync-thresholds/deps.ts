import { S3Client } from "@aws-sdk/client-s3";
import { createS3ConfigSource } from "../../lib/aws/s3-config-source.ts";
import { readEnvironment } from "../../lib/lambda/settings.ts";
import { once } from "../../lib/lambda/start-up.ts";
import type { ConfigSource } from "../../lib/ports/config-source.ts";
import { createFunctionDeps, type FunctionDeps } from "../deps.ts";
import { configSettingsSchema } from "../settings.ts";

export interface SyncThresholdsDeps extends FunctionDeps {
  readonly source: ConfigSource;
}

const loadDeps = async (): Promise<SyncThresholdsDeps> => {
  const settings = readEnvironment(configSettingsSchema, process.env);
  const { CONFIG_BUCKET: bucket, CONFIG_KEY: key } = settings;
  return {
    ...createFunctionDeps(settings),
    source: createS3ConfigSource({ client: new S3Client(), bucket, key }),
  };
};

export const getDeps = once(loadDeps);
