import pc from "picocolors";
import { type Automation, openAutomation } from "../local/automation.ts";
import { openGateway } from "../local/gateway.ts";
import { createSystemClock } from "../system/system-clock.ts";
import { createSystemRandom } from "../system/system-random.ts";
import { type Demo, demoSummary, prepareDemo } from "./demo-run.ts";
import { eventLine } from "./event-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { printLine, printNote, terminalLog } from "./output.ts";
import { readStartSettings, type StartFlags, type StartSettings } from "./start-settings.ts";
import { stopSignal, untilAborted } from "./stop-signal.ts";

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

const howToSend = (url: string): string =>
  [
    "",
    "Send the next command from another terminal:",
    pc.cyan(`  export SKYHOOK_ENDPOINT=${url}`),
    pc.cyan(
      "  npx skyhook send update-policy --project-id 1234567 --region-id 76 --policy-id 1 --status active --wait",
    ),
    "What can be sent: npx skyhook operations      End: Ctrl-C",
  ].join("\n");

const runDemo = async (demo: Demo, signal: AbortSignal): Promise<ExitCode> => {
  const ends = await demo.run(signal);
  printNote(`\n${demoSummary(ends)}`);
  return ends.every(({ isExpected }) => isExpected) ? EXIT.ok : EXIT.failed;
};

/**
 * Runs service and automation in this process: the demo first, then whatever is sent.
 * @throws SettingsError when a setting is missing or wrong
 */
export const start = async (flags: StartFlags): Promise<ExitCode> => {
  const settings = readStartSettings(flags, process.env);
  const signal = stopSignal();
  const automation = await openAutomation({
    ...settings,
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: terminalLog,
  });
  const gateway = await openGateway(automation, settings.gatewayPort);
  automation.bus.subscribe((event) =>
    printLine(flags.json ? JSON.stringify(event) : eventLine(event)),
  );
  // The demo's resources exist in the embedded service only; nobody's real ones are touched.
  const hasDemo = flags.demo && settings.provider.kind === "embedded";
  const demo = hasDemo ? prepareDemo(automation) : undefined;
  printNote(`${whereItListens(settings, automation, gateway.url)}\n`);
  automation.start();
  let exitCode: ExitCode = demo ? await runDemo(demo, signal) : EXIT.ok;
  if (!flags.exit) {
    printNote(howToSend(gateway.url));
    await untilAborted(signal);
    exitCode = EXIT.ok;
  }
  await gateway.close();
  await automation.stop();
  return exitCode;
};
