import type { Command } from "commander";
import * as z from "zod";
import type { Read } from "../../contract/operation.ts";
import { READS } from "../../contract/operations.ts";
import { problemsOf } from "../../contract/problem.ts";
import { getTask, TASK_PATH } from "../../contract/tasks.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import type { OperationRequest } from "../../provider/client.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { addFieldOptions, type CommandInput, requestData } from "../field-flags.ts";
import { baseUrlOption, connectProvider, type ProviderFlags } from "../provider.ts";
import { jsonLine, printResult, problemLines } from "../render.ts";
import { plainReply, replyText } from "../reply-text.ts";
import { type DeclareVerb, ending } from "../verb.ts";

interface ReadFlags extends ProviderFlags {
  readonly json?: boolean;
}

/** @throws ExitError naming every field that the contract has something against */
const requestOf = (operation: Read, input: CommandInput): OperationRequest<Read> => {
  const { params, query, body, ...rest } = requestData(operation, input);
  const schema = z.strictObject({
    operation: z.string(),
    params: operation.params,
    query: operation.query,
    body: operation.body,
  });
  // Encoding checks the decoded form that people write, as for a command.
  const checked = z.safeEncode(schema, { ...rest, params, query, body });
  if (checked.success) return { params, query, body };
  throw new ExitError(
    EXIT.refused,
    [
      `not sent: ${operation.id}`,
      ...problemLines(problemsOf(checked.error.issues)),
      `  every field and limit: npx skyhook operations ${operation.id}`,
    ].join("\n"),
  );
};

const addOperation = (read: Command, operation: Read, clock: Clock): void => {
  const command = read
    .command(operation.id)
    .description(`${operation.summary} (${operation.reference})`);
  const input = addFieldOptions(command, operation);
  command
    .optionsGroup("Who is asked; the key is read from SKYHOOK_API_KEY:")
    .addOption(baseUrlOption());
  if (operation.id === getTask.id) {
    command.option("--task-path <path>", `path of one task there (default: ${TASK_PATH})`);
  }
  command
    .optionsGroup("Output:")
    .option("--json", "print the reply as JSON")
    .action(
      ending(async (flags: ReadFlags) => {
        const provider = connectProvider(flags, clock);
        const request = requestOf(operation, input());
        const reply = plainReply(await provider.read(provider.client.call(operation, request)));
        printResult(flags.json ? jsonLine(reply) : replyText(reply));
        return EXIT.ok;
      }),
    );
};

/** Adds `read <operation>` with a flag for every field of the contract. */
export const declareRead: DeclareVerb = (read, { clock }) => {
  read
    .usage("<operation> [options]")
    .addHelpText("after", "\nThe fields of an operation: npx skyhook read <operation> --help");
  for (const operation of READS) addOperation(read, operation, clock);
};
