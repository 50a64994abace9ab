import pc from "picocolors";
import { type Automation, type AutomationOptions, openAutomation } from "../local/automation.ts";
import { createClosing } from "../local/closing.ts";
import { OWNER_ONLY, withDataError } from "../local/data-directory.ts";
import { openGateway } from "../local/gateway.ts";
import type { Provider } from "../local/provider.ts";
import { type Demo, planDemo } from "./demo/demo.ts";
import { demoState } from "./demo/world.ts";
import { keepRun } from "./endpoint.ts";
import { eventLine, forwardedLine, incomingLine } from "./event-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { jsonLine, printLine, printNote, terminalLog } from "./render.ts";
import type { StartFlags, StartSettings } from "./start-settings.ts";
import { failedBy, stopSignal, untilAborted } from "./stop-signal.ts";
import { isElsewhere, readTeamConfig, type TeamReading, watchTeamConfig } from "./team-config.ts";
import type { Ports } from "./verb.ts";

/** Where each account is; those that name no address are at the run's provider. */
const providerLines = (plan: RunPlan, { accounts, provider }: Automation): readonly string[] => {
  const own = `${provider.baseUrl}${plan.run.provider.kind === "embedded" ? " (the embedded service)" : ""}`;
  const [only, ...others] = accounts.accounts;
  return only?.baseUrl === undefined && others.length === 0
    ? [`provider: ${own}`]
    : accounts.accounts.map(({ name, baseUrl }) => `account ${name}: ${baseUrl ?? own}`);
};

const whereItListens = (plan: RunPlan, automation: Automation, url: string): string =>
  [
    `${pc.bold("Skyhook")} listens at ${url}`,
    ...providerLines(plan, automation),
    plan.run.directory === undefined
      ? "state: in memory, gone at the end (keep it: --data DIR)"
      : `state: kept in ${plan.run.directory}`,
  ].join("\n");

/** Something everybody has: the embedded service's built-in resources. */
const POLICY = "--project-id 1234567 --region-id 76 --policy-id 1";

const howToRead = ({ baseUrl, builtInKey }: Provider): readonly string[] => [
  "Look at what it changed:",
  pc.cyan(`  export SKYHOOK_BASE_URL=${baseUrl}`),
  ...(builtInKey ? [pc.cyan(`  export SKYHOOK_API_KEY='${builtInKey}'`)] : []),
  pc.cyan(`  npx skyhook read get-policy ${POLICY}`),
];

const howToEdit = ({ jobs, teams }: Demo): readonly string[] => [
  "Edit what the scheduled jobs go by, watch, and ask what they remember:",
  pc.cyan(`  ${jobs.thresholdsFile}`),
  pc.cyan("  npx skyhook prices list"),
  ...(teams
    ? [
        "Edit who may do what, and which events become commands:",
        pc.cyan(`  ${teams.files.accountsFile}`),
        pc.cyan(`  ${teams.files.reactionsFile}`),
      ]
    : []),
];

/** How to reach the run: its address is kept for other commands, if that can be done. */
interface Reachable {
  readonly url: string;
  readonly isKept: boolean;
}

const howToGoOn = (
  { isEmbedded, demo }: RunPlan,
  automation: Automation,
  { url, isKept }: Reachable,
): string => {
  const { provider, accounts, jobAccount } = automation;
  const account = accounts.accounts.length > 1 ? ` --account ${jobAccount.name}` : "";
  const example = isEmbedded
    ? `update-policy ${POLICY} --status active${account} --wait`
    : "OPERATION --help";
  return [
    ...(demo ? [""] : []),
    "Send the next command from another terminal:",
    ...(isKept ? [] : [pc.cyan(`  export SKYHOOK_ENDPOINT=${url}`)]),
    pc.cyan(`  npx skyhook send ${example}`),
    ...(isEmbedded ? howToRead(provider) : []),
    ...(demo ? howToEdit(demo) : []),
    "What can be sent and read: npx skyhook operations      End: Ctrl-C",
  ].join("\n");
};

/** Everything that a run is made of. */
interface RunPlan {
  readonly run: Pick<
    AutomationOptions,
    "accounts" | "directory" | "eventSource" | "jobs" | "provider" | "reactions"
  >;
  /** Whether every request goes to the embedded service. */
  readonly isEmbedded: boolean;
  /** Absent where there is none. */
  readonly demo: Demo | undefined;
  /** What the run begins with; its files are re-read when they change. */
  readonly teams: TeamReading;
}

/** What is run: with a demo its own configs, on a state in which something happens. */
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
  // A real provider is asked for nothing without a flag.
  const aiTasks = jobs.aiTasks ?? "all";
  // The demo's resources exist in the embedded service only; real ones are not touched.
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

/** Our own events on stdout; for a person also what comes from, and goes to, other AWS accounts. */
const printEvents = ({ bus, defaultBus, routes }: Automation, isJson: boolean): void => {
  bus.subscribeToOwn(async (event) => printLine(isJson ? jsonLine(event) : eventLine(event)));
  if (isJson) return;
  bus.subscribeToOthers(async (event) => printLine(incomingLine(event)));
  defaultBus.subscribe(async (event) => printLine(incomingLine(event)));
  routes.subscribeToForwarded(async (id, event) => printLine(forwardedLine(id, event)));
};

/** Runs until the demo has ended, with `exit`, or until it is stopped. */
const run = async (
  plan: RunPlan,
  flags: StartFlags,
  automation: Automation,
  reachable: Reachable,
  signal: AbortSignal,
): Promise<ExitCode> => {
  printEvents(automation, flags.json ?? false);
  const runDemo = await plan.demo?.prepare(automation);
  printNote(`${whereItListens(plan, automation, reachable.url)}\n`);
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
    if (!signal.aborted) printNote(howToGoOn(plan, automation, reachable));
    await untilAborted(signal);
    return EXIT.ok;
  } finally {
    ended.abort();
    await watched;
  }
};

/** A run is useful even when its address cannot be kept. */
const keepAddress = (url: string): (() => void) | undefined => {
  try {
    return keepRun(url, process.env);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printNote(`the address of this run could not be kept for other commands: ${reason}`);
    return undefined;
  }
};

/**
 * Runs service and automation in this process: the demo first, then until it is stopped.
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
  const plan = await planRun(settings, flags, clock.now());
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
    const gateway = await openGateway(automation, settings.gatewayPort);
    closing.add(() => gateway.close());
    const forget = keepAddress(gateway.url);
    closing.add(async () => forget?.());
    const reachable = { url: gateway.url, isKept: forget !== undefined };
    return await Promise.race([
      run(plan, flags, automation, reachable, signal),
      withDataError(settings.directory, () => failedBy(automation.failed)),
    ]);
  } finally {
    await closing.close();
  }
};
