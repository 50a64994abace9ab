import { readEnvironment } from "../../lib/lambda/settings.ts";
import { once } from "../../lib/lambda/start-up.ts";
import { createConfigFunctionDeps } from "../config-deps.ts";
import { configSettingsSchema } from "../settings.ts";

export const getDeps = once(async () =>
  createConfigFunctionDeps(readEnvironment(configSettingsSchema, process.env)),
);
