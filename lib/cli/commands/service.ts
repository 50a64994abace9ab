import { readFile } from "node:fs/promises";
import * as z from "zod";
import { quietAfter } from "../../local/closing.ts";
import { OWNER_ONLY, openDataDirectory, withDataError } from "../../local/data-directory.ts";
import type { Provider } from "../../local/provider.ts";
import { readSettings, wholeNumber } from "../../platform/lambda/settings.ts";
import type { State } from "../../service/state/state.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import {
  addFaultOptions,
  type FaultFlags,
  faultChoiceOf,
  faultLines,
  faultSettings,
  givenFaults,
} from "../fault-flags.ts";
import { apiKeySetting } from "../provider.ts";
import {
  addReachOptions,
  givenReach,
  type ReachFlags,
  reachLines,
  reachOf,
  reachSettings,
} from "../reach-flags.ts";
import { printNote, printResult, problemLines, terminalLog } from "../render.ts";
import { failedBy, stopSignal, untilAborted } from "../stop-signal.ts";
import { addExamples, type DeclareVerb, ending, type Ports } from "../verb.ts";

interface ServiceFlags extends FaultFlags, ReachFlags {
  readonly port?: string;
  readonly apiKey?: string;
  readonly seed?: string;
  readonly printSeed?: boolean;
  readonly data?: string;
  readonly taskSeconds?: string;
  readonly rateLimit?: string;
  readonly keepTasks?: string;
  readonly control?: boolean;
}

/** A folder for data. An empty text is refused: it comes from a shell variable that is not set. */
export const directorySetting = z.string().min(1).optional();

/** A port; 0, the default, means any free one. */
export const portSetting = wholeNumber(0, 65_535).default(0);

/** Duration of the service's tasks, seconds: long enough to be seen, short enough to wait for. */
export const taskSecondsSetting = z
  .string()
  .regex(/^\d+(\.\d+)?$/, { error: "a number of seconds" })
  .transform(Number)
  .pipe(z.number().max(3600))
  .default(1.5);

/** A token of the user's own for the controls of the service. */
export const controlTokenSetting = z
  .string()
  .regex(/^[\x21-\x7e]{16,200}$/, { error: "16 to 200 characters without spaces" })
  .optional();

const settingsSchema = z.object({
  "--port": portSetting,
  "--api-key": apiKeySetting.optional(),
  "--seed": z.string().min(1).optional(),
  "--data": directorySetting,
  "--task-seconds": taskSecondsSetting,
  "--rate-limit": wholeNumber(1, 1_000_000).optional(),
  "--keep-tasks": wholeNumber(1, 1_000_000_000).optional(),
  ...reachSettings,
  ...faultSettings,
  SKYHOOK_CONTROL_TOKEN: controlTokenSetting,
});

const MAX_SHOWN_PROBLEMS = 20;

/** @throws ExitError when the file cannot be read, or lists the problems of an invalid state */
const readSeedFile = async (path: string): Promise<State> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ExitError(EXIT.refused, `--seed: cannot read ${path} (${error.code})`);
  });
  const { readSeed, SeedError } = await import("../../service/seed.ts");
  try {
    return readSeed(text);
  } catch (error) {
    if (!(error instanceof SeedError)) throw error;
    const lines = problemLines(error.problems.slice(0, MAX_SHOWN_PROBLEMS));
    const left = error.problems.length - lines.length;
    throw new ExitError(
      EXIT.refused,
      [
        `--seed: ${path} is not a state of the service; --print-seed prints a valid one:`,
        ...lines,
        ...(left > 0 ? [`  and ${left} more`] : []),
      ].join("\n"),
    );
  }
};

const openControl = async (token: string | undefined) =>
  (await import("../control-access.ts")).createControlAccess(token, process.env);

/** Runs the service until it is stopped. */
const serve = async (flags: ServiceFlags, { clock, random }: Ports): Promise<ExitCode> => {
  const settings = readSettings(settingsSchema, {
    "--port": flags.port,
    "--api-key": flags.apiKey,
    "--seed": flags.seed,
    "--data": flags.data,
    "--task-seconds": flags.taskSeconds,
    "--rate-limit": flags.rateLimit,
    "--keep-tasks": flags.keepTasks,
    ...givenReach(flags),
    ...givenFaults(flags),
    SKYHOOK_CONTROL_TOKEN: (flags.control && process.env.SKYHOOK_CONTROL_TOKEN) || undefined,
  });
  const { "--data": directory, "--seed": seedPath, "--api-key": apiKey } = settings;
  if (directory !== undefined) process.umask(OWNER_ONLY);
  const seed = seedPath === undefined ? undefined : await readSeedFile(seedPath);
  const faults = faultChoiceOf(settings);
  const reach = reachOf(settings);
  const control = flags.control ? await openControl(settings.SKYHOOK_CONTROL_TOKEN) : undefined;
  const signal = stopSignal(clock);
  const failing = new AbortController();
  const log = quietAfter(terminalLog, failing.signal);
  const { openProvider } = await import("../../local/provider.ts");
  const provider = await withDataError(directory, async () => {
    const data = directory === undefined ? undefined : await openDataDirectory(directory, random);
    const taskDurationMs = Math.round(settings["--task-seconds"] * 1000);
    const requestsPerSecond = settings["--rate-limit"];
    return openProvider(
      {
        kind: "embedded",
        port: settings["--port"],
        taskDurationMs,
        seed,
        apiKey,
        requestsPerSecond,
        keptTasks: settings["--keep-tasks"],
        reach,
        ownProcess: true,
        faults,
        controlToken: control?.token,
      },
      { clock, random, log, data, failing },
    );
  });
  try {
    // A program that waits for the address finds the token's file as soon as it has it.
    const controls = control?.announce(provider.baseUrl);
    printResult(provider.baseUrl);
    const notes = [...reachLines(reach), ...faultLines(faults)];
    printNote([...notes, nextSteps(provider, apiKey !== undefined)].join("\n"));
    if (controls) printNote(controls);
    await Promise.race([
      untilAborted(signal),
      withDataError(directory, () => failedBy(failing.signal)),
    ]);
  } finally {
    control?.forget();
    await provider.close();
  }
  return EXIT.ok;
};

/** The next commands to type. A key of the user's own is never printed, only the built-in one. */
const nextSteps = ({ baseUrl, builtInKey }: Provider, hasOwnKey: boolean): string => {
  const shownKey = builtInKey === undefined ? [] : [`  export SKYHOOK_API_KEY='${builtInKey}'`];
  return [
    `the service listens at this address; API reference: ${baseUrl}/docs`,
    `  export SKYHOOK_BASE_URL=${baseUrl}`,
    ...(hasOwnKey ? ["  export SKYHOOK_API_KEY=…  # the key of --api-key"] : shownKey),
    "  npx skyhook read list-tasks",
  ].join("\n");
};

const DESCRIPTION = `Runs the service alone, without Skyhook, until Ctrl-C. It prints its address on stdout.

The service implements the documented endpoints of the provider's API and a built-in state to try them on.`;

export const declareService: DeclareVerb = (command, ports) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook service --port 8080",
    "npx skyhook service --print-seed > state.json",
    "npx skyhook service --seed state.json --data ~/service",
    "npx skyhook service --fault 'update-pool=lost-reply-after:20%'",
  ])
    .option("--port <n>", "port to listen on (default: a free one)")
    .option("--api-key <key>", "additional API key of client 1, valid for every project")
    .option("--seed <file>", "initial state (default: the built-in one)")
    .option("--print-seed", "print the built-in state in the format of --seed, and end")
    .option("--data <dir>", "folder for the state (default: state in memory)")
    .option("--task-seconds <n>", "duration of tasks, seconds (default: 1.5)")
    .option("--rate-limit <n>", "requests per second for each key (default: no limit)")
    .option("--keep-tasks <n>", "ended tasks to keep, those that ended last (default: 100000)")
    .option(
      "--control",
      "clock, state, snapshots, requests, prices and faults under /_skyhook/, with the token of SKYHOOK_CONTROL_TOKEN or a new one",
    );
  addReachOptions(command);
  addFaultOptions(command.optionsGroup("Faults:")).action(
    ending(async (flags: ServiceFlags) => {
      if (!flags.printSeed) return serve(flags, ports);
      const { formatSeed } = await import("../../service/seed.ts");
      const { builtInState } = await import("../../service/state/state.ts");
      printResult(formatSeed(builtInState()));
      return EXIT.ok;
    }),
  );
};
