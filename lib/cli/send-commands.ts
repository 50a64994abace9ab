import { type Command, Option } from "commander";
import type { Mutation } from "../contract/operation.ts";
import { MUTATIONS } from "../contract/operations.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import { type FieldFlag, flagsOf } from "./command-input.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { sendCommand } from "./send.ts";

/** The default deadline of a command. */
const DEFAULT_WAIT_SECONDS = "7200";

interface CommonOptions {
  readonly endpoint?: string;
  readonly data?: string;
  readonly body?: string;
  readonly id?: string;
  readonly account?: string;
  readonly deadline?: string;
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
    .option("--data <json>", "whole request (params, query, body), as JSON or @file")
    .option("--body <json>", "request body, as JSON or @file")
    .option("--id <id>", "the command's id; the same id again is the same command")
    .option("--account <name>", "cloud account to use")
    .option("--deadline <time>", "ISO 8601 time at which the command is given up")
    .option("--wait", "follow the command to its end")
    .option("--wait-seconds <n>", "give up waiting after so long", DEFAULT_WAIT_SECONDS)
    .option("--json", "print JSON")
    .addOption(endpointOption());

const fieldOption = (field: FieldFlag): Option =>
  new Option(
    `--${field.flag} <value>`,
    `${field.place}: ${field.rule}${field.required ? " (required)" : ""}`,
  );

/** Adds `send <operation>` with a flag for every field of the contract. */
export const addSendCommands = (
  program: Command,
  ports: { readonly clock: Clock; readonly random: Random },
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const send = program.command("send").description("send a command; --wait follows it to its end");
  const add = (operation: Mutation): void => {
    const command = addCommonOptions(
      send.command(operation.id).description(`${operation.summary} (${operation.reference})`),
    );
    const fields = flagsOf(operation).map((field) => ({ field, option: fieldOption(field) }));
    for (const { option } of fields) command.addOption(option);
    command.action(() => {
      const options = command.opts<CommonOptions & Record<string, string | undefined>>();
      const flags = new Map(
        fields.flatMap(({ field, option }) => {
          const text = options[option.attributeName()];
          return text === undefined ? [] : [[field, text] as const];
        }),
      );
      return end(
        sendCommand(operation, {
          ...ports,
          endpoint: checkedEndpoint(options.endpoint),
          input: { data: options.data, body: options.body, flags },
          id: options.id,
          account: options.account,
          deadline: options.deadline,
          wait: options.wait ?? false,
          timeoutSeconds: waitSeconds(options.waitSeconds),
          json: options.json ?? false,
        }),
      );
    });
  };
  for (const operation of MUTATIONS) add(operation);
};
