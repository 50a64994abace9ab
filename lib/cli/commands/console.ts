import { Refusal } from "../../admin/admin.ts";
import { runAddress } from "../endpoint.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { printNote, printResult, terminalLog } from "../render.ts";
import { stopSignal, untilAborted } from "../stop-signal.ts";
import {
  addExamples,
  checkedStage,
  type DeclareVerb,
  ending,
  endpointOption,
  type Ports,
  stageOption,
} from "../verb.ts";

interface ConsoleFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly allowChanges?: boolean;
  readonly accounts?: string;
  readonly port?: string;
}

/** @throws ExitError for a text that is no port */
const checkedPort = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ExitError(EXIT.refused, "--port: must be a whole number from 0 to 65535");
};

/** Options that a local run has chosen at its start. */
const STAGE_ONLY = { allowChanges: "--allow-changes", accounts: "--accounts", port: "--port" };

/** Prints the address of a run's console. @throws ExitError without a run or its token */
const printAddress = async (flags: ConsoleFlags): Promise<ExitCode> => {
  for (const [name, flag] of Object.entries(STAGE_ONLY)) {
    if (flags[name as keyof typeof STAGE_ONLY] !== undefined) {
      throw new ExitError(EXIT.refused, `${flag}: only with --stage`);
    }
  }
  const { endpoint, token } = runAddress(flags.endpoint);
  if (token === undefined) {
    const text = `no token of a run at ${endpoint} is known; set SKYHOOK_TOKEN, or run this command as the user who started it`;
    throw new ExitError(EXIT.refused, text);
  }
  const { pageAddress } = await import("../../console/auth.ts");
  printResult(pageAddress(endpoint, token));
  return EXIT.ok;
};

/** Serves until Ctrl-C. @throws ExitError when AWS does not answer or refuses */
const serveConsole = async (
  stage: string,
  flags: ConsoleFlags,
  ports: Ports,
): Promise<ExitCode> => {
  const port = checkedPort(flags.port);
  const { readAccounts } = await import("../config-files.ts");
  const accounts = flags.accounts === undefined ? undefined : readAccounts(flags.accounts);
  const { openStageAdmin } = await import("../admin/stage-admin.ts");
  const { openConsole } = await import("../../console/console.ts");
  const { newToken } = await import("../../console/auth.ts");
  const signal = stopSignal(ports.clock);
  const admin = openStageAdmin({ stage, accounts, ...ports });
  // Wrong credentials are reported here rather than on the page.
  await admin.session();
  const served = await openConsole(
    {
      admin,
      token: newToken(),
      allowsChanges: flags.allowChanges ?? false,
      log: terminalLog,
      refusalOf: (error) =>
        error instanceof ExitError ? new Refusal(502, error.message) : undefined,
    },
    port,
  );
  printResult(`Console of the stage ${stage}: ${served.pageUrl}`);
  printNote(
    flags.allowChanges
      ? "Changes are allowed, with your AWS credentials. End: Ctrl-C"
      : "Read-only; --allow-changes allows changes. End: Ctrl-C",
  );
  await untilAborted(signal);
  await served.close();
  return EXIT.ok;
};

const DESCRIPTION = `Prints the address of the console of a running Skyhook, with its token.

With --stage it serves the console of a deployed stage on this machine until Ctrl-C: the same page as that of a local run, at the printed address with its token. It calls AWS with the credentials and the region of the environment. Only this machine can open the address.

The console of a stage is read-only unless --allow-changes is given. It reads the ledger every 5 seconds while its page is visible, and shows the read capacity units that it has consumed. It reads dead letters only when the operator asks, because each read counts as a receive and hides them from other readers for up to a minute.

docs/operate/stage-console.md has the IAM actions that each page and each change needs.`;

export const declareConsole: DeclareVerb = (command, ports) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook console                        # the address of the last run",
    "npx skyhook console --stage prod",
    "npx skyhook console --stage prod --allow-changes \\",
    "    --accounts infra/accounts.prod.yaml",
  ])
    .addOption(endpointOption())
    .addOption(stageOption())
    .option("--allow-changes", "allow cancel, resolve, redrive, delete, send and jobs")
    .option(
      "--accounts <file>",
      "accounts file of the stage, to check rights before sending (default: not checked)",
    )
    .option("--port <n>", "port of the console (default: 4747, or the next free one)")
    .action(
      ending((flags: ConsoleFlags) =>
        flags.stage === undefined
          ? printAddress(flags)
          : serveConsole(checkedStage(flags.stage), flags, ports),
      ),
    );
};
