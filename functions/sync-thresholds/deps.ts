import { readEnvironment } from "../../lib/platform/lambda/settings.ts";
import { once } from "../../lib/platform/lambda/start-up.ts";
import { createConfigFunctionDeps } from "../config-deps.ts";
import { configSettingsSchema } from "../settings.ts";

export const getDeps = once(async () =>
  createConfigFunctionDeps(readEnvironment(configSettingsSchema, process.env)),
);
