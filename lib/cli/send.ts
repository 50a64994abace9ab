import pc from "picocolors";
import { readRequest } from "../commands/read-request.ts";
import { DEFAULT_ACCOUNT } from "../commands/request.ts";
import type { Mutation } from "../contract/operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import { type CommandInput, requestData } from "./command-input.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { createGatewayClient, type GatewayClient, type RequestState } from "./gateway-client.ts";
import { printNote, printResult, problemLines } from "./output.ts";
import { exitCodeOf, stateText } from "./status.ts";

const LOOK_MS = 300;

export interface SendOptions {
  readonly endpoint: string;
  readonly input: CommandInput;
  readonly id?: string | undefined;
  readonly account?: string | undefined;
  readonly deadline?: string | undefined;
  readonly wait: boolean;
  readonly timeoutSeconds: number;
  readonly json: boolean;
  readonly clock: Clock;
  readonly random: Random;
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
    const state = await gateway.look(commandId, eventId);
    const waitedMs = clock.now() - startedAt;
    if (state && isOver(state)) {
      clearProgress();
      return state;
    }
    if (waitedMs >= timeoutSeconds * 1000) {
      clearProgress();
      throw new ExitError(
        EXIT.timedOut,
        `${commandId} has not ended after ${timeoutSeconds} s; it goes on: skyhook status ${commandId}`,
      );
    }
    showProgress(state, waitedMs);
    await clock.sleep(LOOK_MS);
  }
};

/** The detail of a `CommandRequested`; refused here already when the contract refuses it. */
const requestDetail = (operation: Mutation, options: SendOptions, { commandId, eventId }: Sent) => {
  const detail = {
    metadata: {
      id: eventId,
      commandId,
      correlationId: commandId,
      time: new Date(options.clock.now()).toISOString(),
    },
    data: {
      ...requestData(operation, options.input),
      ...(options.account !== undefined && { account: options.account }),
      ...(options.deadline !== undefined && { deadline: options.deadline }),
    },
  };
  // Which accounts exist is known where the command runs.
  const read = readRequest(detail, () => true);
  if (read.kind === "valid") return detail;
  const lines = problemLines(read.rejection.problems).join("\n");
  throw new ExitError(
    EXIT.refused,
    `${operation.id} not sent (${read.rejection.reason}):\n${lines}`,
  );
};

/** Sends a command, and with `wait` follows it to its end. */
export const sendCommand = async (operation: Mutation, options: SendOptions): Promise<ExitCode> => {
  const { random, json } = options;
  const sent = { commandId: options.id ?? random.uuid(), eventId: random.uuid() };
  const gateway = createGatewayClient(options.endpoint);
  await gateway.send(requestDetail(operation, options, sent));
  if (!options.wait) {
    printResult(json ? JSON.stringify(sent) : sent.commandId);
    if (!json)
      printNote(
        `sent to account ${options.account ?? DEFAULT_ACCOUNT}; skyhook status ${sent.commandId}`,
      );
    return EXIT.ok;
  }
  const state = await waitForEnd(gateway, sent, options);
  printResult(json ? JSON.stringify(state) : stateText(state));
  return exitCodeOf(state);
};
