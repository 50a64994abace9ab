import type { Command } from "commander";
import * as z from "zod";
import type { Read } from "../../contract/operation.ts";
import { READS } from "../../contract/operations.ts";
import { problemsOf } from "../../contract/problem.ts";
import { getTask, PUBLISHED_TASK_PATH, TASK_PATH } from "../../contract/tasks.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import type { OperationRequest } from "../../provider/client.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { addFieldOptions, addOperation, type CommandInput, requestData } from "../field-flags.ts";
import { baseUrlOption, connectProvider, type ProviderFlags } from "../provider.ts";
import { jsonLine, printResult, problemLines } from "../render.ts";
import { plainReply, replyText } from "../reply-text.ts";
import { addExamples, type DeclareVerb, ending, needed } from "../verb.ts";

interface ReadFlags extends ProviderFlags {
  readonly json?: boolean;
}

/** @throws ExitError listing every invalid field */
const requestOf = (operation: Read, input: CommandInput): OperationRequest<Read> => {
  const { params, query, body, ...rest } = requestData(operation, input);
  const schema = z.strictObject({
    operation: z.string(),
    params: operation.params,
    query: operation.query,
    body: operation.body,
  });
  // The user writes the decoded form, which encoding checks, as for a command.
  const checked = z.safeEncode(schema, { ...rest, params, query, body });
  if (checked.success) return { params, query, body };
  throw new ExitError(
    EXIT.refused,
    [
      `not sent: ${operation.id}`,
      ...problemLines(problemsOf(checked.error.issues)),
      `  fields and limits: npx skyhook operations ${operation.id}`,
    ].join("\n"),
  );
};

const addRead = (command: Command, operation: Read, clock: Clock): void => {
  const input = addFieldOptions(command, operation);
  command.optionsGroup("Provider, with the API key in SKYHOOK_API_KEY:").addOption(baseUrlOption());
  if (operation.id === getTask.id) {
    const paths = `${TASK_PATH} (default) or ${PUBLISHED_TASK_PATH}`;
    command.option("--task-path <path>", `path of a task: ${paths}`);
  }
  command
    .optionsGroup("Output:")
    .option("--json", "print the reply as JSON")
    .action(
      ending(async (flags: ReadFlags) => {
        const provider = connectProvider(flags, clock);
        const request = requestOf(operation, input());
        const reply = plainReply(await provider.read(provider.client.call(operation, request)));
        printResult(flags.json ? jsonLine(reply) : (columns) => replyText(reply, columns));
        return EXIT.ok;
      }),
    );
};

const DESCRIPTION = `Sends one read to the provider's API and prints the reply. It changes nothing, and needs no running Skyhook.

The address comes from --base-url or SKYHOOK_BASE_URL, the API key from SKYHOOK_API_KEY. --json prints the reply with 64-bit integers as decimal strings. Values of \`envs\` and \`pull_secret\` are printed as [redacted].`;

/** Adds `read <operation>` with an option for every field of the contract. */
export const declareRead: DeclareVerb = (read, { clock }, isUsed = () => true) => {
  addExamples(read.usage("<operation> [options]").description(DESCRIPTION), [
    "npx skyhook read get-policy --project-id 1234567 --region-id 76 --policy-id 1",
    "npx skyhook read list-tasks --state '[\"RUNNING\"]' --json",
    "npx skyhook read preview-instance-price --project-id 1234567 --region-id 76 \\",
    "    --body @instances.json",
    "npx skyhook read get-policy --help    # fields of one operation",
  ]);
  for (const operation of needed(READS, ({ id }) => id, isUsed)) {
    const command = addOperation(read, operation, isUsed);
    if (isUsed(operation.id)) addRead(command, operation, clock);
  }
};
