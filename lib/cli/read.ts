import * as z from "zod";
import type { Read } from "../contract/operation.ts";
import { problemsOf } from "../contract/problem.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { OperationRequest } from "../provider/client.ts";
import { createClient } from "../provider/client.ts";
import { ProviderError } from "../provider/provider-error.ts";
import { type CommandInput, requestData } from "./command-input.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { printResult, problemLines } from "./output.ts";
import { plainReply } from "./plain-reply.ts";
import { type ProviderFlags, readProviderSettings } from "./provider-settings.ts";
import { readFailure } from "./read-failure.ts";
import { replyText } from "./reply-text.ts";
import { jsonLine } from "./visible-text.ts";

/** Longer than an automation waits: a person sees that it takes long, and may stop it. */
const ANSWER_MS = 30_000;

export interface ReadOptions {
  readonly provider: ProviderFlags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: CommandInput;
  readonly json: boolean;
  readonly clock: Clock;
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

/**
 * Asks the provider itself, once, and prints what it answers.
 * @throws SettingsError when a setting is missing or wrong
 * @throws ExitError when the request is outside the contract, or the read failed
 */
export const readOperation = async (operation: Read, options: ReadOptions): Promise<ExitCode> => {
  const settings = readProviderSettings(options.provider, options.environment);
  const request = requestOf(operation, options.input);
  const client = createClient({
    ...settings,
    apiKey: async () => settings.apiKey,
    fetch,
    clock: options.clock,
    attemptTimeoutMs: ANSWER_MS,
  });
  const reply = await client.call(operation, request).catch((error: unknown) => {
    throw error instanceof ProviderError ? readFailure(error, settings.baseUrl) : error;
  });
  const plain = plainReply(reply);
  printResult(options.json ? jsonLine(plain) : replyText(plain));
  return EXIT.ok;
};
