import { type Command, Option } from "commander";
import pc from "picocolors";
import * as z from "zod";
import { duration } from "../../config/values.ts";
import { lazy } from "../../contract/lazy.ts";
import type { Mutation } from "../../contract/operation.ts";
import { COMMANDED } from "../../contract/operations.ts";
import { readRequest } from "../../engine/read-request.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { DEFAULT_ACCOUNT } from "../../provider/default-account.ts";
import { createGatewayClient, type GatewayClient } from "../admin/gateway.ts";
import { type RunAddress, runAddress } from "../endpoint.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import {
  addFieldOptions,
  addOperation,
  type CommandInput,
  readJson,
  requestData,
} from "../field-flags.ts";
import { jsonLine, printNote, printResult, shellWord, visibleText } from "../render.ts";
import type { RequestState } from "../request-schema.ts";
import { exitCodeOf, stateText, waitsFor } from "../request-state.ts";
import {
  addExamples,
  type DeclareVerb,
  ending,
  endpointOption,
  needed,
  type Ports,
  sameTargetFlags,
} from "../verb.ts";

const CHECK_MS = 300;
/** Longest wait until a request is accepted or rejected, without `--wait`. */
const ANSWER_MS = 2_000;
const ANSWER_CHECK_MS = 100;

interface SendFlags {
  readonly endpoint?: string;
  readonly id?: string;
  readonly account?: string;
  /** A time span such as `30m`, or a time. */
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
    Pick<SendFlags, "account" | "after" | "deadline" | "dryRun" | "endpoint" | "id"> {
  readonly run: RunAddress;
  readonly input: CommandInput;
  readonly guards?: unknown;
  /** `answer`: until the request is accepted or rejected. */
  readonly waitFor: "end" | "answer" | "nothing";
  readonly timeoutSeconds: number;
  readonly json: boolean;
}

interface Sent {
  readonly commandId: string;
  readonly eventId: string;
}

/** The call that shows the state of a command that was sent to this endpoint. */
const statusCall = (commandId: string, endpoint: string | undefined): string =>
  `npx skyhook status ${shellWord(commandId)}${sameTargetFlags({ endpoint })}`;

const isOver = (state: RequestState): boolean =>
  state.kind === "rejected" || state.endedAt !== undefined;

/** Rewrites one line of a terminal; prints nothing into a pipe. */
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
  { clock, timeoutSeconds, endpoint }: SendOptions,
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
          `${commandId} has not ended after ${timeoutSeconds} s and continues`,
          ...(waitsFor(state) === undefined ? [] : [`  last attempt: ${waitsFor(state)}`]),
          `  state: ${statusCall(commandId, endpoint)}`,
        ].join("\n"),
      );
    }
    showProgress(state, waitedMs);
    await clock.sleep(CHECK_MS);
  }
};

const deadlineSchema = lazy(() => z.union([duration(), z.iso.datetime({ offset: true })]));

/** The deadline as a time. @throws ExitError for neither a time span nor a time */
const deadlineAt = ({ deadline, clock }: SendOptions): string | undefined => {
  if (deadline === undefined) return undefined;
  const read = deadlineSchema().safeParse(deadline).data;
  if (read === undefined) {
    const rule =
      "must be a time span such as 30m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z";
    throw new ExitError(EXIT.refused, `--deadline: ${rule}`);
  }
  return typeof read === "string" ? read : new Date(clock.now() + read).toISOString();
};

/**
 * `accepted`, or the state of a rejected request; undefined when neither shows within `ANSWER_MS`. The request
 * is durable already, so a Skyhook that stops answering does not make `send` fail.
 */
const awaitAnswer = async (
  gateway: GatewayClient,
  sent: Sent,
  clock: Clock,
): Promise<"accepted" | RequestState | undefined> => {
  const answered = new AbortController();
  const over = new AbortController();
  const { signal } = over;
  void clock.sleep(ANSWER_MS, answered.signal).then(() => over.abort());
  try {
    while (!signal.aborted) {
      const answer = await gateway.answerTo(sent, signal);
      if (answer) return answer;
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

/** Prints the command id on stdout, and the state of its request on stderr. */
const printSent = (
  sent: Sent,
  answer: string | undefined,
  { json, endpoint }: Pick<SendOptions, "endpoint" | "json">,
): void => {
  if (json) {
    printResult(jsonLine({ ...sent, ...(answer !== undefined && { answer }) }));
    return;
  }
  const known =
    answer === "none"
      ? `sent, but neither accepted nor rejected within ${ANSWER_MS / 1000} s`
      : (answer ?? "sent");
  printResult(sent.commandId);
  printNote(`${known}; state: ${statusCall(sent.commandId, endpoint)}`);
};

/** The given options that become fields of the command's data. */
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

/** Rights are checked where the command runs. */
const EVERYTHING_ALLOWED = {
  accountsOf: () => [DEFAULT_ACCOUNT],
  mayRun: () => true,
  maySee: () => true,
};

/** The rejection of a request that breaks the contract; undefined for a valid one. */
const refusalOf = (detail: Detail): RequestState | undefined => {
  const read = readRequest(detail, { sender: "", access: EVERYTHING_ALLOWED });
  if (read.kind === "valid") return undefined;
  const { operation, reason, problems } = read.rejection;
  return { kind: "rejected", operation, reason, problems: [...problems] };
};

/**
 * Sends a command and waits as `waitFor` says. Unless it waits for the end, only the command id goes to stdout,
 * for scripts, and a rejection goes to stderr.
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
  const gateway = createGatewayClient(options.run);
  await gateway.send(detail);
  if (waitFor === "end") {
    const id = visibleText(sent.commandId);
    printNote(`sent as ${id}; waiting for its end (Ctrl-C ends only the wait)`);
    const state = await waitForEnd(gateway, sent, options).finally(clearProgress);
    printResult(json ? jsonLine(state) : stateText(state));
    return exitCodeOf(state);
  }
  if (waitFor === "nothing") {
    printSent(sent, undefined, options);
    return EXIT.ok;
  }
  const answer = (await awaitAnswer(gateway, sent, clock)) ?? "none";
  if (typeof answer !== "string") {
    if (json) printResult(jsonLine(answer));
    else printNote(stateText(answer));
    return exitCodeOf(answer);
  }
  printSent(sent, answer, options);
  return EXIT.ok;
};

/** Equals the default deadline of a command. */
const DEFAULT_WAIT_SECONDS = "7200";

const waitSeconds = (text: string): number => {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new ExitError(
    EXIT.refused,
    "--wait-seconds: must be a whole number of seconds, at least 1",
  );
};

const addCommonOptions = (command: Command): Command =>
  command
    .optionsGroup("Command:")
    .addOption(endpointOption())
    .option(
      "--id <id>",
      "command id; a second send with the same id changes nothing (default: new)",
    )
    .option("--account <name>", "account at the provider (default: the only permitted one)")
    .option(
      "--deadline <when>",
      "latest end: a time span such as 30m, or a time such as 2026-01-31T12:00:00Z (default: 2h)",
    )
    .option(
      "--after <id>",
      "run only after this command has succeeded; can be repeated",
      (id: string, ids: readonly string[] = []) => [...ids, id],
    )
    .option(
      "--guards <json>",
      'conditions on tags, such as \'[{"network":{…},"key":"paid","equals":"yes"}]\'',
    )
    .option("--dry-run", "run every check, and record the request instead of sending it")
    .option("--wait", "wait for the end of the command (default: for its acceptance, at most 2 s)")
    .option("--no-wait", "do not wait for acceptance")
    .addOption(
      new Option("--wait-seconds <n>", "longest wait with --wait, seconds").default(
        DEFAULT_WAIT_SECONDS,
        DEFAULT_WAIT_SECONDS,
      ),
    )
    .option("--json", "print JSON");

const DESCRIPTION = `Sends a command to a running Skyhook. Without --wait it waits until the request is accepted or rejected, at most 2 seconds.

stdout: the id of the command; with --wait, its end. stderr: the problems of a rejected request (status 2). If neither happens in time, send ends with status 0: the request is in the queue, and \`skyhook status\` shows its command.

Fields are options, such as --listening-port 8080, or JSON in --body and --data. An option overrides --body, and --body overrides --data.`;

/** Adds `send <operation>` with an option for every field of the contract. */
export const declareSend: DeclareVerb = (send, ports, isUsed = () => true) => {
  addExamples(send.usage("<operation> [options]").description(DESCRIPTION), [
    "npx skyhook send update-policy --project-id 1234567 --region-id 76 \\",
    "    --policy-id 1 --status active --wait",
    "npx skyhook send create-router --project-id 1234567 --region-id 76 \\",
    "    --body @router.json",
    "npx skyhook send update-policy --help    # fields of one operation",
  ]);
  for (const operation of needed(COMMANDED, ({ id }) => id, isUsed)) {
    const command = addOperation(send, operation, isUsed);
    if (!isUsed(operation.id)) continue;
    const input = addFieldOptions(command, operation);
    addCommonOptions(command).action(
      ending(async (flags: SendFlags) => {
        const { guards, wait } = flags;
        return sendCommand(operation, {
          ...flags,
          ...ports,
          run: runAddress(flags.endpoint),
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
