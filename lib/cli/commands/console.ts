import { Refusal } from "../../admin/admin.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { printNote, printResult, terminalLog } from "../render.ts";
import { stopSignal, untilAborted } from "../stop-signal.ts";
import { addExamples, checkedStage, type DeclareVerb, ending, type Ports } from "../verb.ts";

interface ConsoleFlags {
  readonly stage: string;
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

/** Serves until Ctrl-C. @throws ExitError when AWS does not answer or refuses */
const serveConsole = async (flags: ConsoleFlags, ports: Ports): Promise<ExitCode> => {
  const stage = checkedStage(flags.stage);
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

const DESCRIPTION = `Serves the console of a deployed stage on this machine until Ctrl-C: the same page as that of a local run, at the printed address with its token. It calls AWS with the credentials and the region of the environment. Only this machine can open the address.

The console is read-only unless --allow-changes is given. It reads the ledger every 5 seconds while its page is visible, and shows the read capacity units that it has consumed. It reads dead letters only when the operator asks, because each read counts as a receive and hides them from other readers for up to a minute.

docs/operate/stage-console.md has the IAM actions that each page and each change needs.`;

export const declareConsole: DeclareVerb = (command, ports) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook console --stage prod",
    "npx skyhook console --stage prod --allow-changes \\",
    "    --accounts infra/accounts.prod.yaml",
  ])
    .requiredOption("--stage <name>", "stage deployed on AWS")
    .option("--allow-changes", "allow cancel, resolve, redrive, delete, send and jobs")
    .option(
      "--accounts <file>",
      "accounts file of the stage, to check rights before sending (default: not checked)",
    )
    .option("--port <n>", "port of the console (default: 4747, or the next free one)")
    .action(ending((flags: ConsoleFlags) => serveConsole(flags, ports)));
};
