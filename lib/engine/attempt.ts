import * as z from "zod";
import { requestFields } from "../contract/operation.ts";
import { commandedOperation } from "../contract/operations.ts";
import { tasksReply } from "../contract/values.ts";
import { isUnreadable, type Stored } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { ProviderError } from "../provider/provider-error.ts";
import { pauseAfterWaitMs } from "../provider/retrying-client.ts";
import { type NextStep, strategyOf, type Uncertainty } from "./after-ambiguous-send.ts";
import { archiveAttempts } from "./attempt-history.ts";
import { type Command, commandKey, commands, DUE_SLACK_MS } from "./command.ts";
import { giveUp, leaveUnknown } from "./command-events.ts";
import {
  breakAttempt,
  followTasks,
  loseAttempt,
  startAttempt,
  waitBeforeSending,
} from "./command-transitions.ts";
import { type CommandDeps, errorFields } from "./deps.ts";
import { writeCommand } from "./finish.ts";
import { recordOnlyTask } from "./follow.ts";
import { type AttemptContext, preflight } from "./preflight.ts";
import { type AttemptResult, afterAttempt, isUnsent } from "./reply.ts";
import { canBeFollowed } from "./request.ts";
import { taskKey, tasks } from "./task.ts";

const uncertaintyOf = (
  { deps, account, request, signal }: AttemptContext,
  command: Command,
): Uncertainty | undefined =>
  command.uncertain && {
    ...command.uncertain,
    account,
    request,
    signal,
    now: deps.clock.now(),
    isClaimed: async (id) => {
      const task = await tasks.read(deps.ledger, taskKey({ account: command.account, id }));
      return task !== undefined && task.value.command !== commandKey(command);
    },
  };

type SendResult = Extract<AttemptResult, { kind: "reply" | "error" }>;

const send = async (context: AttemptContext): Promise<SendResult> => {
  const { account, operation, request, signal } = context;
  try {
    const body = z.decode(operation.body, z.encode<z.ZodType>(operation.body, request.body));
    const reply = await account.client.call(operation, { ...request, body }, signal);
    if (operation.answers !== "tasks" || canBeFollowed(z.parse(tasksReply(), reply).tasks)) {
      return { kind: "reply", reply };
    }
    // The request took effect, but its tasks cannot be followed.
    const error = new ProviderError({
      disposition: "ambiguous",
      code: "reply-unexpected",
      message: `${operation.id}: the reply names more than 50 tasks, or an invalid task id`,
    });
    return { kind: "error", error };
  } catch (error) {
    if (error instanceof ProviderError) return { kind: "error", error };
    throw error;
  }
};

/**
 * Logs one line for each attempt, without the text of the reply, which may hold secrets.
 * @param askedAt when the account's client was called, epoch ms; the duration includes its wait for a
 * key and a permit, even if nothing is sent in the end
 */
const logAttempt = (
  { deps }: AttemptContext,
  command: Command,
  result: SendResult,
  askedAt: number,
): void => {
  const fields = { attempt: command.attemptCount, durationMs: deps.clock.now() - askedAt };
  if (result.kind === "reply") {
    deps.log.info("request sent", { ...fields, disposition: "answered" });
    return;
  }
  const { disposition, code, status } = result.error;
  deps.log.info(isUnsent(result.error) ? "request held back" : "request sent", {
    ...fields,
    disposition,
    errorCode: code,
    status,
  });
};

/**
 * Why an earlier send stays unclear: the provider will refuse the read that would show its effect again. The text is
 * published, so it quotes nothing of the provider.
 */
const cannotTell = ({ code }: ProviderError): string =>
  `the provider refuses the read that would show whether it took effect (${code})`;

/**
 * Asks the strategy what a refusal after an uncertain send means: the earlier send may have caused it.
 */
const interpretRefusal = async (
  context: AttemptContext,
  result: SendResult,
  command: Command,
): Promise<AttemptResult> => {
  if (result.kind !== "error" || result.error.disposition !== "permanent") return result;
  const uncertainty = uncertaintyOf(context, command);
  if (!uncertainty) return result;
  try {
    const meaning = await strategyOf(context.operation).interpretRefusal(uncertainty, result.error);
    return { kind: "refused-again", error: result.error, meaning };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.disposition === "permanent") {
      const meaning = { kind: "unknown", rule: cannotTell(error) } as const;
      return { kind: "refused-again", error: result.error, meaning };
    }
    // A read that failed decides nothing about the command: it is tried again.
    return { kind: "unexplained", error: result.error, because: error };
  }
};

/** The step of an operation that sends nothing: it adopts the task that the request names. */
const localStep = ({ operation, request }: AttemptContext): NextStep | undefined => {
  if (!operation.follows) return undefined;
  const params = z.parse(operation.params, request.params);
  const taskIds = requestFields({ ...request, params }, [operation.follows]);
  return { kind: "adopt", taskIds: z.array(z.string()).parse(taskIds) };
};

/** The step before a send that follows an uncertain one. */
const nextStep = async (context: AttemptContext, command: Command): Promise<NextStep> => {
  const uncertainty = uncertaintyOf(context, command);
  if (!uncertainty) return { kind: "send" };
  try {
    return await strategyOf(context.operation).beforeResend(uncertainty);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.disposition === "permanent") return { kind: "unknown", rule: cannotTell(error) };
    const { clock, random } = context.deps;
    const now = clock.now();
    const pause = error.retryAfterMs || pauseAfterWaitMs(now - uncertainty.lastSentAt, random);
    return { kind: "wait", until: now + pause };
  }
};

/** Records the result of an attempt. If that fails, the reply is lost. */
const recordResult = async (
  deps: CommandDeps,
  started: Stored<Command>,
  next: Command,
): Promise<Stored<Command> | undefined> => {
  const watched = await recordOnlyTask(deps, next);
  try {
    return await writeCommand(deps, started, watched);
  } catch (error) {
    if (watched === next) throw error;
    deps.log.warn("reply not written; it is written again", errorFields(error));
    // This write leaves the due index alone, where a shard may be throttled.
    return writeCommand(deps, started, next);
  }
};

const sendOnce = async (
  context: AttemptContext,
  stored: Stored<Command>,
  command: Command,
): Promise<Stored<Command> | undefined> => {
  const { deps, operation } = context;
  const now = deps.clock.now();
  const lease = { by: deps.runner, now, leaseUntil: now + deps.leaseMs };
  const intent = startAttempt(command, lease);
  await archiveAttempts(deps.ledger, commandKey(command), command);
  const started = await commands.write(deps.ledger, commandKey(command), stored, intent);
  if (!started) return undefined;
  const askedAt = deps.clock.now();
  const sent = await send(context);
  logAttempt(context, started.value, sent, askedAt);
  const result = await interpretRefusal(context, sent, command);
  const next = afterAttempt(started.value, result, {
    operation,
    now: deps.clock.now(),
    random: deps.random,
  });
  return recordResult(deps, started, next);
};

/** The command after a step that sends nothing. */
const withoutSending = (
  command: Command,
  step: Exclude<NextStep, { kind: "send" }>,
  now: number,
): Command => {
  switch (step.kind) {
    case "wait":
      return waitBeforeSending(command, Math.min(step.until, command.deadline));
    case "adopt":
      return followTasks(command, step.taskIds);
    case "unknown":
      return leaveUnknown(command, { now, problem: { path: "", rule: step.rule } });
    default:
      return step satisfies never;
  }
};

/**
 * Makes one attempt at a command that holds its lane, and records its result.
 * @returns the command as recorded, or undefined when another writer was faster
 */
export const attemptCommand = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  signal: AbortSignal,
): Promise<Stored<Command> | undefined> => {
  const found = stored.value;
  const wasSending = found.state.status === "running" && found.state.lease !== undefined;
  const command = wasSending ? loseAttempt(found, deps.clock.now()) : found;
  const account = deps.accountOf(command.account);
  if (!account || !command.request) {
    const problem = { path: "account", rule: "not in the accounts file any more" };
    return writeCommand(deps, stored, giveUp(command, { now: deps.clock.now(), problem }));
  }
  const operation = commandedOperation(command.operation);
  const context = { deps, account, request: command.request, operation, signal };
  const step = localStep(context) ?? (await nextStep(context, command));
  // A search for the effect of an earlier send changes nothing, so it needs no guards.
  const isGuarded = step.kind === "send" || operation.follows !== undefined;
  const stopped = isGuarded ? await preflight(context, command) : undefined;
  if (stopped) return writeCommand(deps, stored, stopped);
  return step.kind === "send"
    ? sendOnce(context, stored, command)
    : writeCommand(deps, stored, withoutSending(command, step, deps.clock.now()));
};

/** Limit of the query: more commands than one machine has in progress. */
const MAX_UNDER_WAY = 10_000;

/**
 * Ends every running attempt, so that no command waits for a lease to expire. Only for a ledger that no
 * live process uses.
 */
export const breakAttempts = async (ledger: Ledger, now: number): Promise<void> => {
  const prefix = `${commands.kind}#`;
  // A running attempt is due when its lease ends, or a little before. Open tasks are due earlier, and may be many.
  const from = now - DUE_SLACK_MS;
  const due = await ledger.listDue(Number.MAX_SAFE_INTEGER, MAX_UNDER_WAY, undefined, from);
  for (const { key } of due.filter((entry) => entry.key.startsWith(prefix))) {
    try {
      await commands.update(ledger, key.slice(prefix.length), (command) =>
        breakAttempt(command, now, now),
      );
    } catch (error) {
      // The poller reports the item at each check. It must not keep the others from their attempts.
      if (!isUnreadable(error)) throw error;
    }
  }
};
