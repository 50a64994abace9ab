import * as z from "zod";
import { baseUrl } from "../config/values.ts";
import { AI_TASK_NAMES } from "../contract/ai-tasks.ts";
import { updatePool } from "../contract/load-balancer-pools.ts";
import type { Problem } from "../contract/problem.ts";
import { getTask } from "../contract/tasks.ts";
import { oneOf } from "../contract/values.ts";
import type { ProviderChoice } from "../local/provider.ts";
import type { JobChoice } from "../local/scheduled-jobs.ts";
import { ssmSecrets } from "../local/ssm-secrets.ts";
import { readSettings, wholeNumber } from "../platform/lambda/settings.ts";
import type { Reach } from "../service/reach.ts";
import {
  controlTokenSetting,
  directorySetting,
  portSetting,
  taskSecondsSetting,
} from "./commands/service.ts";
import type { Environment } from "./environment.ts";
import { type FaultFlags, faultChoiceOf, faultSettings, givenFaults } from "./fault-flags.ts";
import { apiKeySetting, poolPathSetting, taskPathSetting } from "./provider.ts";
import { givenReach, type ReachFlags, reachOf, reachSettings } from "./reach-flags.ts";
import type { TeamFiles } from "./team-config.ts";

/** Options of `skyhook start` as commander reads them. */
export interface StartFlags extends FaultFlags, ReachFlags {
  readonly exit?: boolean;
  readonly json?: boolean;
  readonly demo: boolean;
  readonly data?: string;
  readonly port?: string;
  readonly servicePort?: string;
  readonly taskSeconds?: string;
  readonly eventSource?: string;
  readonly baseUrl?: string;
  readonly apiKeyParameter?: string;
  readonly taskPath?: string;
  readonly poolPath?: string;
  readonly lists: boolean;
  readonly accounts?: string;
  readonly reactions?: string;
  readonly thresholds?: string;
  readonly watchlist?: string;
  readonly aiTasks?: string;
  readonly control?: boolean;
}

const settingsSchema = z.object({
  "--data": directorySetting,
  "--port": wholeNumber(0, 65_535).optional(),
  "--service-port": portSetting,
  "--task-seconds": taskSecondsSetting,
  "--event-source": z
    .string()
    .regex(/^[\w./-]{1,256}$/, {
      error: "a source name such as skyhook: at most 256 letters, digits, _ . / -",
    })
    .default("skyhook"),
  "--base-url": baseUrl().optional(),
  "--api-key-parameter": z.string().min(1).optional(),
  "--task-path": taskPathSetting,
  "--pool-path": poolPathSetting,
  "--accounts": z.string().min(1).optional(),
  "--reactions": z.string().min(1).optional(),
  "--thresholds": z.string().min(1).optional(),
  "--watchlist": z.string().min(1).optional(),
  "--ai-tasks": oneOf(["all", ...AI_TASK_NAMES]).optional(),
  "--control": z.string().optional(),
  SKYHOOK_CONTROL_TOKEN: controlTokenSetting,
  SKYHOOK_API_KEY: apiKeySetting.optional(),
  ...faultSettings,
  ...reachSettings,
});

const KEY = "SKYHOOK_API_KEY";
const KEY_PARAMETER = "--api-key-parameter";
const REMOTE_ONLY = [KEY_PARAMETER, "--task-path", "--pool-path", "--no-lists"] as const;
const EMBEDDED_ONLY = [
  "--service-port",
  "--task-seconds",
  "--control",
  "--fault",
  "--latency",
  "--fault-seed",
] as const;

/** Refuses an incomplete provider, and options of the other kind of provider, before the run starts. */
const problemsBetween = (
  given: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly Problem[] => {
  const isGiven = (name: string): boolean => given[name] !== undefined;
  if (!isGiven("--base-url")) {
    const rule = "requires --base-url";
    return REMOTE_ONLY.filter(isGiven).map((path) => ({ path, rule }));
  }
  const rule = "not allowed with --base-url: it configures the embedded service";
  const foreign = EMBEDDED_ONLY.filter(isGiven).map((path) => ({ path, rule }));
  if (isGiven(KEY) && isGiven(KEY_PARAMETER)) {
    return [
      ...foreign,
      { path: KEY_PARAMETER, rule: `not allowed with ${KEY}: give the key only once` },
    ];
  }
  return isGiven(KEY) || isGiven(KEY_PARAMETER)
    ? foreign
    : [
        ...foreign,
        {
          path: KEY,
          rule: `required with --base-url, unless ${KEY_PARAMETER} names an SSM parameter`,
        },
      ];
};

export interface StartSettings {
  readonly provider: ProviderChoice;
  readonly directory: string | undefined;
  /** Undefined: 4747, or the next free port. */
  readonly gatewayPort: number | undefined;
  /** Of the console and of the embedded service. */
  readonly reach: Reach;
  readonly eventSource: string;
  readonly jobs: JobChoice;
  readonly teams: TeamFiles;
  /** Controls of the embedded service, with the user's own token if there is one; absent: no controls. */
  readonly control: { readonly token: string | undefined } | undefined;
}

/**
 * Reads the settings of a local run from options and environment.
 * @throws SettingsError listing every wrong setting, without values
 */
export const readStartSettings = (flags: StartFlags, environment: Environment): StartSettings => {
  const given = {
    "--data": flags.data,
    "--port": flags.port,
    "--service-port": flags.servicePort,
    "--task-seconds": flags.taskSeconds,
    "--event-source": flags.eventSource,
    "--base-url": flags.baseUrl,
    [KEY_PARAMETER]: flags.apiKeyParameter,
    "--task-path": flags.taskPath,
    "--pool-path": flags.poolPath,
    "--no-lists": flags.lists ? undefined : "",
    "--accounts": flags.accounts,
    "--reactions": flags.reactions,
    "--thresholds": flags.thresholds,
    "--watchlist": flags.watchlist,
    "--ai-tasks": flags.aiTasks,
    ...givenReach(flags),
    "--control": flags.control ? "" : undefined,
    SKYHOOK_CONTROL_TOKEN: (flags.control && environment.SKYHOOK_CONTROL_TOKEN) || undefined,
    // A run of the embedded service ignores a key in the environment. Empty counts as missing.
    ...givenFaults(flags),
    [KEY]: flags.baseUrl === undefined ? undefined : environment.SKYHOOK_API_KEY || undefined,
  };
  const settings = readSettings(settingsSchema, given, problemsBetween);
  return {
    directory: settings["--data"],
    gatewayPort: settings["--port"],
    reach: reachOf(settings),
    eventSource: settings["--event-source"],
    provider: providerOf(settings, flags),
    control: flags.control ? { token: settings.SKYHOOK_CONTROL_TOKEN } : undefined,
    teams: { accountsFile: settings["--accounts"], reactionsFile: settings["--reactions"] },
    jobs: {
      thresholdsFile: settings["--thresholds"],
      watchlistFile: settings["--watchlist"],
      aiTasks: settings["--ai-tasks"],
    },
  };
};

const providerOf = (
  settings: z.output<typeof settingsSchema>,
  flags: StartFlags,
): ProviderChoice => {
  const { SKYHOOK_API_KEY: key = "", "--api-key-parameter": parameter } = settings;
  const remote = settings["--base-url"];
  if (remote === undefined) {
    const taskDurationMs = Math.round(settings["--task-seconds"] * 1000);
    return {
      kind: "embedded",
      port: settings["--service-port"],
      reach: reachOf(settings),
      taskDurationMs,
      faults: faultChoiceOf(settings),
    };
  }
  return {
    kind: "remote",
    baseUrl: remote,
    apiKey: async () => (parameter === undefined ? key : ssmSecrets.read(parameter)),
    paths: {
      [getTask.id]: settings["--task-path"],
      [updatePool.id]: settings["--pool-path"],
    },
    canList: flags.lists,
  };
};
