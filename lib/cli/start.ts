import pc from "picocolors";
import { type Automation, openAutomation } from "../local/automation.ts";
import { createClosing } from "../local/closing.ts";
import { demoState } from "../local/demo-jobs.ts";
import { openGateway } from "../local/gateway.ts";
import type { Provider } from "../local/provider.ts";
import { createSystemClock } from "../system/system-clock.ts";
import { createSystemRandom } from "../system/system-random.ts";
import { planDemoFiles } from "./demo-files.ts";
import { type Demo, type DemoPlan, demoSummary, prepareDemo } from "./demo-run.ts";
import { planDemoTeams } from "./demo-teams.ts";
import { eventLine } from "./event-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { printLine, printNote, terminalLog } from "./output.ts";
import { readStartSettings, type StartFlags, type StartSettings } from "./start-settings.ts";
import { stopSignal, untilAborted } from "./stop-signal.ts";
import { readTeamConfig } from "./team-config.ts";
import { forwardedLine, incomingLine } from "./team-event-line.ts";

const whereItListens = (settings: StartSettings, automation: Automation, url: string): string => {
  const { provider } = automation;
  const embedded = settings.provider.kind === "embedded";
  return [
    `${pc.bold("Skyhook")} listens at ${url}`,
    `provider: ${provider.baseUrl}${embedded ? " (the embedded service)" : ""}`,
    settings.directory === undefined
      ? "state: in memory, gone at the end (keep it: --data DIR)"
      : `state: kept in ${settings.directory}`,
  ].join("\n");
};

/** Something everybody has: the embedded service's built-in resources. */
const POLICY = "--project-id 1234567 --region-id 76 --policy-id 1";

const howToRead = ({ baseUrl, builtInKey }: Provider): readonly string[] => [
  "Look at what it changed:",
  pc.cyan(`  export SKYHOOK_BASE_URL=${baseUrl}`),
  ...(builtInKey ? [pc.cyan(`  export SKYHOOK_API_KEY='${builtInKey}'`)] : []),
  pc.cyan(`  npx skyhook read get-policy ${POLICY}`),
];

const howToEdit = ({ files: { jobs } }: DemoPlan): readonly string[] => [
  "Edit what the standing jobs go by, watch, and ask what they remember:",
  pc.cyan(`  ${jobs.thresholdsFile}`),
  pc.cyan("  npx skyhook prices list"),
];

const howToGoOn = (
  settings: StartSettings,
  { provider }: Automation,
  demo: DemoPlan | undefined,
  url: string,
): string => {
  const embedded = settings.provider.kind === "embedded";
  const example = embedded ? `update-policy ${POLICY} --status active --wait` : "OPERATION --help";
  return [
    "",
    "Send the next command from another terminal:",
    pc.cyan(`  export SKYHOOK_ENDPOINT=${url}`),
    pc.cyan(`  npx skyhook send ${example}`),
    ...(embedded ? howToRead(provider) : []),
    ...(demo ? howToEdit(demo) : []),
    "What can be sent and read: npx skyhook operations      End: Ctrl-C",
  ].join("\n");
};

/** The demo's resources exist in the embedded service only; nobody's real ones are touched. */
const planDemo = async (
  settings: StartSettings,
  flags: StartFlags,
): Promise<DemoPlan | undefined> => {
  if (!flags.demo || settings.provider.kind === "remote") return undefined;
  const files = await planDemoFiles(settings.jobs, settings.directory);
  const { accountsFile, reactionsFile } = settings.teams;
  const isNamed = accountsFile !== undefined || reactionsFile !== undefined;
  const teams = isNamed ? undefined : await planDemoTeams(files.folder, settings.eventSource);
  return { files, teams };
};

/** What is run: with a demo its own configs, on a state in which something happens. */
const withDemo = (settings: StartSettings, demo: DemoPlan | undefined, at: number) => {
  const { provider, teams, eventSource } = settings;
  const config = demo?.teams?.config ?? readTeamConfig(teams, eventSource);
  if (!demo || provider.kind === "remote") return { ...settings, ...config };
  return {
    ...settings,
    ...config,
    jobs: demo.files.jobs,
    provider: { ...provider, firstState: demoState(at) },
  };
};

/** What is there before anything runs, and what is expected to come of it. */
const prepare = async (automation: Automation, plan: DemoPlan): Promise<Demo> => {
  const { files, teams } = plan;
  const steps = await files.write();
  await teams?.write();
  return prepareDemo(automation, plan, [...steps, ...(teams?.expect(automation) ?? [])]);
};

/** Our own events on stdout; for a person also what comes from, and goes to, other AWS accounts. */
const printEvents = ({ bus, routes, accounts }: Automation, isJson: boolean): void => {
  bus.subscribeToOwn(async (event) => printLine(isJson ? JSON.stringify(event) : eventLine(event)));
  if (isJson) return;
  bus.subscribeToOthers(async (event) => printLine(incomingLine(event)));
  for (const { id } of accounts.awsAccounts) {
    routes.subscribeAs(id, async (event) => printLine(forwardedLine(id, event)));
  }
};

const runDemo = async (demo: Demo, signal: AbortSignal): Promise<ExitCode> => {
  const ends = await demo.run(signal);
  if (!signal.aborted) printNote(`\n${demoSummary(ends)}`);
  return ends.every(({ isExpected }) => isExpected) ? EXIT.ok : EXIT.failed;
};

/** Runs until the demo has ended, with `exit`, or until somebody stops it. */
const run = async (
  settings: StartSettings,
  flags: StartFlags,
  automation: Automation,
  plan: DemoPlan | undefined,
  url: string,
  signal: AbortSignal,
): Promise<ExitCode> => {
  printEvents(automation, flags.json ?? false);
  const demo = plan && (await prepare(automation, plan));
  printNote(`${whereItListens(settings, automation, url)}\n`);
  automation.start();
  const exitCode = demo ? await runDemo(demo, signal) : EXIT.ok;
  if (flags.exit) return exitCode;
  if (!signal.aborted) printNote(howToGoOn(settings, automation, plan, url));
  await untilAborted(signal);
  return EXIT.ok;
};

/**
 * Runs service and automation in this process: the demo first, then whatever is sent.
 * @throws SettingsError when a setting is missing or wrong
 * @throws DataDirectoryError when the data directory cannot be used
 * @throws Error with code EADDRINUSE when a port is taken
 */
export const start = async (flags: StartFlags): Promise<ExitCode> => {
  const settings = readStartSettings(flags, process.env);
  const clock = createSystemClock();
  const signal = stopSignal(clock);
  const plan = await planDemo(settings, flags);
  const closing = createClosing();
  closing.add(async () => plan?.files.remove());
  try {
    const automation = await openAutomation({
      ...withDemo(settings, plan, clock.now()),
      environment: process.env,
      clock,
      random: createSystemRandom(),
      log: terminalLog,
    });
    closing.add(() => automation.stop());
    const gateway = await openGateway(automation, settings.gatewayPort);
    closing.add(() => gateway.close());
    return await run(settings, flags, automation, plan, gateway.url, signal);
  } finally {
    await closing.close();
  }
};
