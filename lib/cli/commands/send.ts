import type { Command } from "commander";
import pc from "picocolors";
import * as z from "zod";
import { duration } from "../../config/values.ts";
import type { Mutation } from "../../contract/operation.ts";
import { COMMANDED } from "../../contract/operations.ts";
import { readRequest } from "../../engine/read-request.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { DEFAULT_ACCOUNT } from "../../provider/accounts.ts";
import { createGatewayClient, type GatewayClient } from "../admin/gateway.ts";
import { checkedEndpoint } from "../endpoint.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { addFieldOptions, type CommandInput, readJson, requestData } from "../field-flags.ts";
import { jsonLine, printNote, printResult, shellWord, visibleText } from "../render.ts";
import { exitCodeOf, type RequestState, stateText, waitsFor } from "../request-state.ts";
import { type DeclareVerb, ending, endpointOption, type Ports } from "../verb.ts";

const CHECK_MS = 300;
/** How long a request may take to be accepted or rejected before `send` ends without knowing. */
const ANSWER_MS = 2_000;
const ANSWER_CHECK_MS = 100;

interface SendFlags {
  readonly endpoint?: string;
  readonly id?: string;
  readonly account?: string;
  /** A time span from now, such as `30m`, or a time. */
  readonly deadline?: string | undefined;
  readonly after?: readonly string[];
  readonly guards?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly waitSeconds: string;
  readonly json?: boolean;
}

export interface SendOptions
  extends Ports,
    Pick<SendFlags, "account" | "after" | "deadline" | "dryRun" | "id"> {
  readonly endpoint: string;
  readonly input: CommandInput;
  readonly guards?: unknown;
  /** What to wait for: the command's end, whether it is accepted, or nothing. */
  readonly waitFor: "end" | "answer" | "nothing";
  readonly timeoutSeconds: number;
  readonly json: boolean;
}

interface Sent {
  readonly commandId: string;
  readonly eventId: string;
}

const isOver = (state: RequestState): boolean =>
  state.kind === "rejected" || state.endedAt !== undefined;

/** One line that is written over and over; only for a person who watches. */
const showProgress = (state: RequestState | undefined, waitedMs: number): void => {
  if (!process.stderr.isTTY) return;
  const status = state?.kind === "command" ? state.status : "queued";
  process.stderr.write(`\r\x1b[K${pc.dim(`${status} ${(waitedMs / 1000).toFixed(0)} s`)}`);
};

const clearProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
};

const waitForEnd = async (
  gateway: GatewayClient,
  { commandId, eventId }: Sent,
  { clock, timeoutSeconds }: SendOptions,
): Promise<RequestState> => {
  const startedAt = clock.now();
  for (;;) {
    const state = await gateway.look(commandId, { eventId });
    const waitedMs = clock.now() - startedAt;
    if (state && isOver(state)) return state;
    if (waitedMs >= timeoutSeconds * 1000) {
      throw new ExitError(
        EXIT.timedOut,
        [
          `${commandId} has not ended after ${timeoutSeconds} s and goes on`,
          ...(waitsFor(state) === undefined ? [] : [`  last attempt: ${waitsFor(state)}`]),
          `  look again: npx skyhook status ${shellWord(commandId)}`,
        ].join("\n"),
      );
    }
    showProgress(state, waitedMs);
    await clock.sleep(CHECK_MS);
  }
};

const deadlineSchema = z.union([duration, z.iso.datetime({ offset: true })]);

/** The deadline as a time. @throws ExitError for neither a time span nor a time */
const deadlineAt = ({ deadline, clock }: SendOptions): string | undefined => {
  if (deadline === undefined) return undefined;
  const read = deadlineSchema.safeParse(deadline).data;
  if (read === undefined) {
    const rule = "a time span such as 30m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z";
    throw new ExitError(EXIT.refused, `--deadline: ${rule}`);
  }
  return typeof read === "string" ? read : new Date(clock.now() + read).toISOString();
};

/**
 * Whether the request was accepted or rejected, as far as that shows in time. The request is durable
 * already, so a Skyhook that does not answer any more is no failure of the send.
 */
const awaitAnswer = async (
  gateway: GatewayClient,
  { commandId, eventId }: Sent,
  clock: Clock,
): Promise<RequestState | undefined> => {
  const answered = new AbortController();
  const over = new AbortController();
  const { signal } = over;
  void clock.sleep(ANSWER_MS, answered.signal).then(() => over.abort());
  try {
    while (!signal.aborted) {
      const state = await gateway.look(commandId, { eventId, signal });
      if (state) return state;
      await clock.sleep(ANSWER_CHECK_MS, signal);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ExitError && error.exitCode === EXIT.unreachable) return undefined;
    throw error;
  } finally {
    answered.abort();
  }
};

/** Prints what is known of a request that is not followed to its end. */
const printSent = (sent: Sent, answer: string | undefined, json: boolean): void => {
  if (json) {
    printResult(jsonLine({ ...sent, ...(answer !== undefined && { answer }) }));
    return;
  }
  const known =
    answer === "none"
      ? `sent, but neither accepted nor rejected within ${ANSWER_MS / 1000} s`
      : (answer ?? "sent");
  printResult(sent.commandId);
  printNote(`${known}; how it goes: npx skyhook status ${shellWord(sent.commandId)}`);
};

/** What is asked for beside the request itself, as far as it was given. */
const given = (options: SendOptions) => {
  const { after, guards, dryRun } = options;
  const all = { deadline: deadlineAt(options), after, guards, dryRun };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};

type Detail = Readonly<Record<"metadata" | "data", Readonly<Record<string, unknown>>>>;

/** The detail of a `CommandRequested`. */
const requestDetail = (
  operation: Mutation,
  options: SendOptions,
  { commandId, eventId }: Sent,
): Detail => ({
  metadata: {
    id: eventId,
    commandId,
    correlationId: commandId,
    time: new Date(options.clock.now()).toISOString(),
  },
  data: {
    ...requestData(operation, options.input),
    ...(options.account !== undefined && { account: options.account }),
    ...given(options),
  },
});

/** Who may do what is known where the command runs. */
const ANYBODY = { accountsOf: () => [DEFAULT_ACCOUNT], mayRun: () => true, maySee: () => true };

/** What the contract has against a request. */
const refusalOf = (detail: Detail): RequestState | undefined => {
  const read = readRequest(detail, { sender: "", access: ANYBODY });
  if (read.kind === "valid") return undefined;
  const { operation, reason, problems } = read.rejection;
  return { kind: "rejected", operation, reason, problems: [...problems] };
};

/**
 * Sends a command and waits for what `waitFor` says. Without the end, only the command's id goes to
 * stdout, so that a script can keep it; a rejection is a note there.
 */
export const sendCommand = async (operation: Mutation, options: SendOptions): Promise<ExitCode> => {
  const { random, json, waitFor, clock } = options;
  const sent = { commandId: options.id ?? random.uuid(), eventId: random.uuid() };
  const detail = requestDetail(operation, options, sent);
  const refusal = refusalOf(detail);
  if (refusal) {
    if (json) printResult(jsonLine(refusal));
    else printNote(`not sent: ${stateText(refusal)}`);
    return exitCodeOf(refusal);
  }
  const gateway = createGatewayClient(options.endpoint);
  await gateway.send(detail);
  if (waitFor === "end") {
    const id = visibleText(sent.commandId);
    printNote(`sent as ${id}; waiting for its end (Ctrl-C stops the waiting only)`);
    const state = await waitForEnd(gateway, sent, options).finally(clearProgress);
    printResult(json ? jsonLine(state) : stateText(state));
    return exitCodeOf(state);
  }
  if (waitFor === "nothing") {
    printSent(sent, undefined, json);
    return EXIT.ok;
  }
  const state = await awaitAnswer(gateway, sent, clock);
  if (state?.kind === "rejected") {
    if (json) printResult(jsonLine(state));
    else printNote(stateText(state));
    return exitCodeOf(state);
  }
  printSent(sent, state ? "accepted" : "none", json);
  return EXIT.ok;
};

/** The default deadline of a command. */
const DEFAULT_WAIT_SECONDS = "7200";

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
export const declareSend: DeclareVerb = (send, ports) => {
  send
    .usage("<operation> [options]")
    .addHelpText("after", "\nThe fields of an operation: npx skyhook send <operation> --help");
  for (const operation of COMMANDED) {
    const command = send
      .command(operation.id)
      .description(`${operation.summary} (${operation.reference})`);
    const input = addFieldOptions(command, operation);
    addCommonOptions(command).action(
      ending(async (flags: SendFlags) => {
        const { guards, wait } = flags;
        return sendCommand(operation, {
          ...flags,
          ...ports,
          endpoint: checkedEndpoint(flags.endpoint),
          input: input(),
          guards: guards === undefined ? undefined : readJson(guards, "--guards"),
          waitFor: wait ? "end" : wait === false ? "nothing" : "answer",
          timeoutSeconds: waitSeconds(flags.waitSeconds),
          json: flags.json ?? false,
        });
      }),
    );
  }
};
