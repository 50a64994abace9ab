import { readEnvironment } from "../../lib/platform/lambda/settings.ts";
import { once } from "../../lib/platform/lambda/start-up.ts";
import { createJobDeps, type JobDeps } from "../deps.ts";
import { aiTaskSettingsSchema } from "../settings.ts";

export interface WatchAiTasksDeps extends JobDeps {
  /** Only tasks of this name are watched; undefined: all. */
  readonly taskName: string | undefined;
}

const loadDeps = async (): Promise<WatchAiTasksDeps> => {
  const settings = readEnvironment(aiTaskSettingsSchema, process.env);
  return { ...createJobDeps(settings), taskName: settings.AI_TASK_NAME };
};

export const getDeps = once(loadDeps);
