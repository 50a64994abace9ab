import type { Command } from "commander";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { readJson } from "./command-input.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { addFieldOptions } from "./field-options.ts";
import { sendCommand } from "./send.ts";

/** The default deadline of a command. */
const DEFAULT_WAIT_SECONDS = "7200";

interface CommonOptions {
  readonly endpoint?: string;
  readonly id?: string;
  readonly account?: string;
  readonly deadline?: string;
  readonly after?: readonly string[];
  readonly guards?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly waitSeconds: string;
  readonly json?: boolean;
}

const waitSeconds = (text: string): number => {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new ExitError(EXIT.refused, "--wait-seconds: a whole number of seconds above 0");
};

const addCommonOptions = (command: Command): Command =>
  command
    .optionsGroup("How it is sent:")
    .addOption(endpointOption())
    .option("--id <id>", "id of the command; sent twice with one id, it runs once (default: new)")
    .option("--account <name>", "account at the provider (default: the only one you may use)")
    .option(
      "--deadline <when>",
      "when to give up: a time span from now such as 30m, or 2026-01-31T12:00:00Z (default: 2h)",
    )
    .option(
      "--after <id>",
      "run only when this command has succeeded; may be given several times",
      (id: string, ids: readonly string[] = []) => [...ids, id],
    )
    .option(
      "--guards <json>",
      'run only if tags are so, such as \'[{"network":{…},"key":"paid","equals":"yes"}]\'',
    )
    .option("--dry-run", "go the whole way, but send nothing: show what would be sent")
    .option(
      "--wait",
      "wait for the end of the command (default: until it is accepted, 2 s at most)",
    )
    .option("--no-wait", "do not even wait until it is accepted or rejected")
    .option("--wait-seconds <n>", "wait so long at most", DEFAULT_WAIT_SECONDS)
    .option("--json", "print JSON");

/** Adds `send <operation>` with a flag for every field of the contract. */
export const addSendCommands = (
  program: Command,
  ports: { readonly clock: Clock; readonly random: Random },
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const send = program
    .command("send")
    .description("send a command to a running Skyhook")
    .usage("<operation> [options]")
    .addHelpText("after", "\nThe fields of an operation: npx skyhook send <operation> --help");
  const add = (operation: Mutation): void => {
    const command = send
      .command(operation.id)
      .description(`${operation.summary} (${operation.reference})`);
    const input = addFieldOptions(command, operation);
    addCommonOptions(command).action((options: CommonOptions) =>
      end(
        sendCommand(operation, {
          ...ports,
          endpoint: checkedEndpoint(options.endpoint),
          input: input(),
          id: options.id,
          account: options.account,
          deadline: options.deadline,
          after: options.after,
          guards: options.guards === undefined ? undefined : readJson(options.guards, "--guards"),
          dryRun: options.dryRun,
          waitFor: options.wait ? "end" : options.wait === false ? "nothing" : "answer",
          timeoutSeconds: waitSeconds(options.waitSeconds),
          json: options.json ?? false,
        }),
      ),
    );
  };
  for (const operation of COMMANDED) add(operation);
};
