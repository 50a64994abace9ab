import pc from "picocolors";
import { newToken, tokenOf } from "../console/auth.ts";
import { openConsole, type ServedConsole } from "../console/console.ts";
import { type Automation, type AutomationOptions, openAutomation } from "../local/automation.ts";
import { createClosing } from "../local/closing.ts";
import { OWNER_ONLY, withDataError } from "../local/data-directory.ts";
import { createLocalAdmin } from "../local/local-admin.ts";
import type { BusEvent } from "../local/local-bus.ts";
import type { Provider } from "../local/provider.ts";
import type { Reach } from "../service/reach.ts";
import { createControlAccess } from "./control-access.ts";
import { type Demo, planDemo } from "./demo/demo.ts";
import { demoState } from "./demo/world.ts";
import { keepRun } from "./endpoint.ts";
import { eventLine, forwardedLine, incomingLine } from "./event-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { faultLines } from "./fault-flags.ts";
import { reachLines } from "./reach-flags.ts";
import { jsonLine, printLine, printNote, terminalLog } from "./render.ts";
import type { StartFlags, StartSettings } from "./start-settings.ts";
import { failedBy, stopSignal, untilAborted } from "./stop-signal.ts";
import { isElsewhere, readTeamConfig, type TeamReading, watchTeamConfig } from "./team-config.ts";
import type { Ports } from "./verb.ts";

/** The provider of each account; an account without an address is at the run's provider. */
const providerLines = (plan: RunPlan, { accounts, provider }: Automation): readonly string[] => {
  const own = `${provider.baseUrl}${plan.run.provider.kind === "embedded" ? " (the embedded service)" : ""}`;
  const [only, ...others] = accounts.accounts;
  return only?.baseUrl === undefined && others.length === 0
    ? [`provider: ${own}`]
    : accounts.accounts.map(({ name, baseUrl }) => `account ${name}: ${baseUrl ?? own}`);
};

const whereItListens = (
  plan: RunPlan,
  automation: Automation,
  { url, pageUrl, reach }: Reachable,
): string =>
  [
    `${pc.bold("Console")}: ${pc.cyan(pageUrl)}`,
    `${pc.bold("Skyhook")} listens at ${url}`,
    ...reachLines(reach),
    ...providerLines(plan, automation),
    plan.run.directory === undefined
      ? "state: in memory, lost when Skyhook stops (to keep it: --data DIR)"
      : `state: kept in ${plan.run.directory}`,
    ...(plan.run.provider.kind === "embedded" ? faultLines(plan.run.provider.faults) : []),
  ].join("\n");

/** A resource of the embedded service's built-in state. */
const POLICY = "--project-id 1234567 --region-id 76 --policy-id 1";

const howToRead = ({ baseUrl, builtInKey }: Provider): readonly string[] => [
  "Read the result from the provider:",
  pc.cyan(`  export SKYHOOK_BASE_URL=${baseUrl}`),
  ...(builtInKey ? [pc.cyan(`  export SKYHOOK_API_KEY='${builtInKey}'`)] : []),
  pc.cyan(`  npx skyhook read get-policy ${POLICY}`),
];

const howToEdit = ({ jobs, teams }: Demo): readonly string[] => [
  "Edit a file of the scheduled jobs and watch the events; list the recorded prices:",
  pc.cyan(`  ${jobs.thresholdsFile}`),
  pc.cyan("  npx skyhook prices list"),
  ...(teams
    ? [
        "Edit the rights and the rules that turn events into commands:",
        pc.cyan(`  ${teams.files.accountsFile}`),
        pc.cyan(`  ${teams.files.reactionsFile}`),
      ]
    : []),
];

/** The addresses of the run; `isKept`: other commands find them in the file of the run. */
interface Reachable extends Pick<ServedConsole, "pageUrl" | "token" | "url"> {
  readonly reach: Reach;
  readonly isKept: boolean;
}

const nextSteps = (
  { isEmbedded, demo }: RunPlan,
  automation: Automation,
  { url, token, isKept }: Reachable,
): string => {
  const { provider, accounts, jobAccount } = automation;
  const account = accounts.accounts.length > 1 ? ` --account ${jobAccount.name}` : "";
  const example = isEmbedded
    ? `update-policy ${POLICY} --status active${account} --wait`
    : "OPERATION --help";
  return [
    ...(demo ? [""] : []),
    "Send a command from another terminal:",
    ...(isKept
      ? []
      : [pc.cyan(`  export SKYHOOK_ENDPOINT=${url}`), pc.cyan(`  export SKYHOOK_TOKEN=${token}`)]),
    pc.cyan(`  npx skyhook send ${example}`),
    ...(isEmbedded ? howToRead(provider) : []),
    ...(demo ? howToEdit(demo) : []),
    "What can be sent and read: npx skyhook operations      End: Ctrl-C",
  ].join("\n");
};

/** The parts of a run. */
interface RunPlan {
  readonly run: Pick<
    AutomationOptions,
    "accounts" | "directory" | "eventSource" | "jobs" | "provider" | "reactions"
  >;
  /** Whether every request goes to the embedded service. */
  readonly isEmbedded: boolean;
  /** Undefined for a run without a demo. */
  readonly demo: Demo | undefined;
  /** The first version of the accounts and reactions files, which the run re-reads when they change. */
  readonly teams: TeamReading;
}

const withControls = (settings: StartSettings, controlToken: string | undefined): StartSettings =>
  settings.provider.kind === "embedded"
    ? { ...settings, provider: { ...settings.provider, controlToken } }
    : settings;

/** Plans the run. A demo brings its own configs, and a state in which prices and tasks change. */
const planRun = async (
  settings: StartSettings,
  flags: StartFlags,
  at: number,
): Promise<RunPlan> => {
  const { provider, teams, eventSource, jobs } = settings;
  const named = readTeamConfig(teams, eventSource);
  if (provider.kind === "remote" || isElsewhere(named.config)) {
    const run = { ...settings, ...named.config };
    return { run, isEmbedded: false, demo: undefined, teams: named };
  }
  // A real provider gets no request without an option; here the provider is the embedded service.
  const aiTasks = jobs.aiTasks ?? "all";
  // The demo's resources exist only in the embedded service.
  const demo = flags.demo ? await planDemo(settings) : undefined;
  if (!demo) {
    const run = { ...settings, ...named.config, jobs: { ...jobs, aiTasks } };
    return { run, isEmbedded: true, demo, teams: named };
  }
  const reading = demo.teams ?? named;
  const run = {
    ...settings,
    ...reading.config,
    jobs: { ...demo.jobs, aiTasks },
    provider: { ...provider, firstState: demoState(at) },
  };
  return { run, isEmbedded: true, demo, teams: reading };
};

/** Prints published events; without --json also events from and to other AWS accounts. */
const printEvents = ({ bus, defaultBus, routes }: Automation, isJson: boolean): void => {
  bus.subscribeToOwn(async (event) =>
    printLine(isJson ? jsonLine(event) : (columns) => eventLine(event, columns)),
  );
  if (isJson) return;
  const printIncoming = async (event: BusEvent) =>
    printLine((columns) => incomingLine(event, columns));
  bus.subscribeToOthers(printIncoming);
  defaultBus.subscribe(printIncoming);
  routes.subscribeToForwarded(async (id, event) =>
    printLine((columns) => forwardedLine(id, event, columns)),
  );
};

/** Runs until it is stopped, with `--exit` until the end of the demo. */
const run = async (
  plan: RunPlan,
  flags: StartFlags,
  automation: Automation,
  reachable: Reachable,
  signal: AbortSignal,
): Promise<ExitCode> => {
  printEvents(automation, flags.json ?? false);
  const runDemo = await plan.demo?.prepare(automation);
  printNote(`${whereItListens(plan, automation, reachable)}\n`);
  automation.start();
  const ended = new AbortController();
  const watched = watchTeamConfig({
    first: plan.teams,
    eventSource: plan.run.eventSource,
    clock: automation.deps.clock,
    log: automation.deps.log,
    signal: AbortSignal.any([signal, automation.failed, ended.signal]),
    apply: automation.reconfigure,
  });
  try {
    const result = await runDemo?.(signal);
    if (result && !signal.aborted) printNote(`\n${result.summary}`);
    if (flags.exit) return !result || result.isAsExpected ? EXIT.ok : EXIT.failed;
    if (!signal.aborted) printNote(nextSteps(plan, automation, reachable));
    await untilAborted(signal);
    return EXIT.ok;
  } finally {
    ended.abort();
    await watched;
  }
};

/** Keeps the run's address. A run without a kept address is still useful, so a failure is only reported. */
const keepAddress = (served: ServedConsole, startedAt: number): (() => void) | undefined => {
  try {
    return keepRun({ ...served, startedAt }, process.env);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printNote(`cannot save the address of this run, so other commands need --endpoint: ${reason}`);
    return undefined;
  }
};

/**
 * Runs the service and the automation in this process: the demo first, then until a stop signal.
 * @throws DataDirectoryError when the data directory cannot be used
 * @throws Error with code EADDRINUSE when a port is taken
 */
export const startLocally = async (
  settings: StartSettings,
  flags: StartFlags,
  { clock, random }: Ports,
): Promise<ExitCode> => {
  if (settings.directory !== undefined) process.umask(OWNER_ONLY);
  const signal = stopSignal(clock);
  const control = settings.control && createControlAccess(settings.control.token, process.env);
  const plan = await planRun(withControls(settings, control?.token), flags, clock.now());
  const closing = createClosing();
  closing.add(async () => plan.demo?.remove());
  try {
    const automation = await openAutomation({
      ...plan.run,
      environment: process.env,
      clock,
      random,
      log: terminalLog,
    });
    closing.add(() => automation.stop());
    const { log, fingerprintKey } = automation.deps;
    const served = await openConsole(
      {
        admin: createLocalAdmin(automation),
        token: settings.directory === undefined ? newToken() : tokenOf(fingerprintKey),
        allowsChanges: true,
        log,
      },
      settings.gatewayPort,
      settings.reach,
    );
    closing.add(() => served.close());
    if (control) {
      closing.add(async () => control.forget());
      printNote(control.announce(automation.provider.baseUrl));
    }
    const forget = keepAddress(served, clock.now());
    closing.add(async () => forget?.());
    const reachable = { ...served, reach: settings.reach, isKept: forget !== undefined };
    return await Promise.race([
      run(plan, flags, automation, reachable, signal),
      withDataError(settings.directory, () => failedBy(automation.failed)),
    ]);
  } finally {
    await closing.close();
  }
};
