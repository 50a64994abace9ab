import { readEnvironment } from "../../lib/platform/lambda/settings.ts";
import { once } from "../../lib/platform/lambda/start-up.ts";
import { type ConfigFunctionDeps, createConfigFunctionDeps } from "../config-deps.ts";
import { priceSettingsSchema } from "../settings.ts";

export interface SnapshotPricesDeps extends ConfigFunctionDeps {
  /** How often the schedule calls. */
  readonly periodMs: number;
}

const loadDeps = async (): Promise<SnapshotPricesDeps> => {
  const settings = readEnvironment(priceSettingsSchema, process.env);
  return {
    ...createConfigFunctionDeps(settings),
    periodMs: settings.PERIOD_SECONDS * 1000,
  };
};

export const getDeps = once(loadDeps);
