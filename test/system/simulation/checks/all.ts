import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Input } from "../plan/deeds.ts";
import { checkAttempts } from "./attempts.ts";
import { checkConditions } from "./conditions.ts";
import { checkEnds } from "./ends.ts";
import { checkEvents } from "./events.ts";
import { watchFollowingRequests } from "./following-requests.ts";
import { checkJobs } from "./jobs.ts";
import { checkKeys, watchKeys } from "./keys.ts";
import { checkFullLanes, checkLanes, checkRest, watchLanes } from "./lanes.ts";
import { watchListUse } from "./list-use.ts";
import { checkNumbers } from "./numbers.ts";
import { checkProgress } from "./progress.ts";
import { checkPromptness } from "./promptness.ts";
import { watchRateLimit } from "./rate-limit.ts";
import { checkRejections } from "./rejections.ts";
import { checkSecrets, watchSecrets } from "./secrets.ts";
import { checkOrderOfEnds, checkTaskEnds, watchTaskEnds } from "./task-ends.ts";
import { checkTasks } from "./tasks.ts";
import { checkTelling } from "./telling.ts";
import { watchThresholds } from "./thresholds.ts";
import { checkTruth } from "./truth.ts";
import { watchWrites } from "./writes.ts";

type Check = (cloud: Cloud, inputs: readonly Input[]) => Promise<readonly Violation[]>;

/** Violations of rules that hold without most faults only. */
const checkCalm: Check = async ({ chronicle, faults, limits, keys }) => {
  if (limits.struck.length > 0 || keys.replacements() > 0) return [];
  if (!faults.struck.every(({ kind }) => kind === "query incomplete")) return [];
  return [...chronicle.ifIndexLags, ...(faults.struck.length === 0 ? chronicle.ifCalm : [])];
};

const CHECKS: readonly Check[] = [
  checkEnds,
  checkTruth,
  checkLanes,
  checkRest,
  checkRejections,
  checkConditions,
  checkProgress,
  checkPromptness,
  checkAttempts,
  checkTelling,
  checkTasks,
  checkTaskEnds,
  checkOrderOfEnds,
  checkFullLanes,
  checkCalm,
  checkJobs,
  checkKeys,
  checkEvents,
  checkSecrets,
  checkNumbers,
];

/** Starts the checks that have to observe each step. */
export const watch = (cloud: Cloud): void => {
  watchLanes(cloud);
  watchTaskEnds(cloud);
  watchFollowingRequests(cloud);
  watchListUse(cloud);
  watchRateLimit(cloud);
  watchKeys(cloud);
  watchSecrets(cloud);
  watchThresholds(cloud);
  watchWrites(cloud);
};

/** Checks every invariant but that of the thresholds on the system at rest. */
export const checkAll: Check = async (cloud, inputs) =>
  (await Promise.all(CHECKS.map((check) => check(cloud, inputs)))).flat();
