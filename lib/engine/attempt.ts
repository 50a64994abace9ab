import * as z from "zod";
import { type Mutation, requestField } from "../contract/operation.ts";
import { commandedOperation } from "../contract/operations.ts";
import { tasksReply } from "../contract/values.ts";
import type { Stored } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Account } from "../provider/accounts.ts";
import { ProviderError } from "../provider/provider-error.ts";
import { pauseAfterWaitMs } from "../provider/retrying-client.ts";
import { type NextStep, strategyOf, type Uncertainty } from "./after-ambiguous-send.ts";
import { putAwayAttempts } from "./attempt-history.ts";
import { type Command, type CommandRequestBody, commandKey, commands } from "./command.ts";
import { fail, leaveUnknown } from "./command-events.ts";
import {
  breakAttempt,
  followTasks,
  loseAttempt,
  startAttempt,
  waitBeforeSending,
} from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { writeCommand } from "./finish.ts";
import { heldBack } from "./preflight.ts";
import { type AttemptResult, afterAttempt, isUnsent } from "./reply.ts";
import { canBeFollowed } from "./request.ts";
import { taskKey, tasks } from "./task.ts";

interface AttemptContext {
  readonly deps: CommandDeps;
  readonly account: Account;
  readonly request: CommandRequestBody;
  readonly operation: Mutation;
  readonly signal: AbortSignal;
}

const uncertaintyOf = (context: AttemptContext, command: Command): Uncertainty | undefined =>
  command.uncertain && {
    account: context.account,
    request: context.request,
    firstSentAt: command.uncertain.firstSentAt,
    lastSentAt: command.uncertain.lastSentAt,
    now: context.deps.clock.now(),
    signal: context.signal,
    isClaimed: async (id) => {
      const task = await tasks.read(context.deps.ledger, taskKey({ account: command.account, id }));
      return task !== undefined && task.value.command !== commandKey(command);
    },
  };

/** The effect is there, and its end cannot be seen. */
const cannotBeFollowed = (operation: Mutation): ProviderError =>
  new ProviderError({
    disposition: "ambiguous",
    code: "reply-unexpected",
    message: `${operation.id}: the reply names tasks that cannot be followed`,
  });

const namesFollowableTasks = (operation: Mutation, reply: unknown): boolean =>
  operation.answers !== "tasks" || canBeFollowed(z.parse(tasksReply, reply).tasks);

type SendResult = Extract<AttemptResult, { kind: "reply" | "error" }>;

const send = async (context: AttemptContext, operation: Mutation): Promise<SendResult> => {
  const { account, request, signal } = context;
  try {
    const body = z.decode(operation.body, z.encode<z.ZodType>(operation.body, request.body));
    const reply = await account.client.call(operation, { ...request, body }, signal);
    return namesFollowableTasks(operation, reply)
      ? { kind: "reply", reply }
      : { kind: "error", error: cannotBeFollowed(operation) };
  } catch (error) {
    if (error instanceof ProviderError) return { kind: "error", error };
    throw error;
  }
};

/**
 * One line for each attempt; what came back may hold secrets, and is no part of it.
 * @param askedAt when the account's client was asked to send, epoch ms: what it waits for a key or a
 * turn counts too, also where nothing is sent in the end
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

/** A refusal after an uncertain send is put to the operation: it may mean that it is done. */
const explainRefusal = async (
  context: AttemptContext,
  result: AttemptResult,
  uncertainty: Uncertainty | undefined,
): Promise<AttemptResult> => {
  if (result.kind !== "error" || result.error.disposition !== "permanent" || !uncertainty) {
    return result;
  }
  try {
    const meaning = await strategyOf(context.operation).interpretRefusal(uncertainty, result.error);
    return { kind: "refused-again", error: result.error, meaning };
  } catch (error) {
    // A read that failed decides nothing about the command: it is tried again.
    if (error instanceof ProviderError) {
      return { kind: "unexplained", error: result.error, because: error };
    }
    throw error;
  }
};

/** What is done where there is nothing to send. */
const localStep = ({ operation, request }: AttemptContext): NextStep | undefined => {
  if (!operation.follows) return undefined;
  const params = z.parse(operation.params, request.params);
  const taskId = z.string().parse(requestField({ ...request, params }, operation.follows));
  return { kind: "adopt", taskIds: [taskId] };
};

/** What to do before a send that follows an uncertain one. */
const nextStep = async (context: AttemptContext, command: Command): Promise<NextStep> => {
  const uncertainty = uncertaintyOf(context, command);
  if (!uncertainty) return { kind: "send" };
  try {
    return await strategyOf(context.operation).beforeResend(uncertainty);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { clock, random } = context.deps;
    const now = clock.now();
    const pause = error.retryAfterMs || pauseAfterWaitMs(now - uncertainty.lastSentAt, random);
    return { kind: "wait", until: now + pause };
  }
};

/** Records what becomes of a command in this attempt; undefined when somebody else moved it. */
type Record = (next: Command) => Promise<Command | undefined>;

const sendOnce = async (
  context: AttemptContext,
  stored: Stored<Command>,
  command: Command,
): Promise<Command | undefined> => {
  const { deps, operation } = context;
  const now = deps.clock.now();
  const lease = { by: deps.runner, now, leaseUntil: now + deps.leaseMs };
  const intent = startAttempt(command, lease);
  await putAwayAttempts(deps.ledger, commandKey(command), command);
  const started = await commands.write(deps.ledger, commandKey(command), stored, intent);
  if (!started) return undefined;
  const askedAt = deps.clock.now();
  const sent = await send(context, operation);
  logAttempt(context, started.value, sent, askedAt);
  const result = await explainRefusal(context, sent, uncertaintyOf(context, command));
  const next = afterAttempt(started.value, result, {
    operation,
    now: deps.clock.now(),
    random: deps.random,
  });
  return (await writeCommand(deps, started, next))?.value;
};

/** What is left to do for a command whose guards hold. */
const doStep = async (
  context: AttemptContext,
  step: NextStep,
  stored: Stored<Command>,
  command: Command,
  record: Record,
): Promise<Command | undefined> => {
  const now = context.deps.clock.now();
  switch (step.kind) {
    case "send":
      return sendOnce(context, stored, command);
    case "wait":
      return record(waitBeforeSending(command, Math.min(step.until, command.deadline)));
    case "adopt":
      return record(followTasks(command, step.taskIds));
    case "unknown": {
      return record(leaveUnknown(command, { now, problem: { path: "", rule: step.rule } }));
    }
    default:
      return step satisfies never;
  }
};

/**
 * Makes one attempt at a command that holds its lane, and records what came of it.
 * @returns the command as recorded, or undefined when somebody else moved it in the meantime
 */
export const attemptCommand = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  signal: AbortSignal,
): Promise<Command | undefined> => {
  const found = stored.value;
  const wasSending = found.state.status === "running" && found.state.lease !== undefined;
  const command = wasSending ? loseAttempt(found, deps.clock.now()) : found;
  const record: Record = async (next) => (await writeCommand(deps, stored, next))?.value;

  const account = deps.accountOf(command.account);
  if (!account || !command.request) {
    const now = deps.clock.now();
    const problem = { path: "account", rule: "no such account any more" };
    // What was sent to it may have been done.
    return record(
      command.uncertain
        ? leaveUnknown(command, { now, problem })
        : fail(command, { now, reason: "refused", problems: [problem] }),
    );
  }
  const operation = commandedOperation(command.operation);
  const context = { deps, account, request: command.request, operation, signal };
  const step = localStep(context) ?? (await nextStep(context, command));
  // Looking into an earlier send changes nothing: guards are for what does.
  const isGuarded = step.kind === "send" || operation.follows !== undefined;
  const held = isGuarded ? await heldBack(context, command) : undefined;
  return held ? record(held) : doStep(context, step, stored, command, record);
};

/** More than one machine has under way. */
const MAX_UNDER_WAY = 10_000;

/**
 * Ends whatever attempts there are, so that nobody waits for their leases: for a ledger whose every
 * earlier user is known to be dead.
 */
export const breakAttempts = async (ledger: Ledger, now: number): Promise<void> => {
  const prefix = `${commands.kind}#`;
  const due = await ledger.listDue(Number.MAX_SAFE_INTEGER, MAX_UNDER_WAY);
  for (const { key } of due.filter((entry) => entry.key.startsWith(prefix))) {
    await commands.update(ledger, key.slice(prefix.length), (command) =>
      breakAttempt(command, now, now),
    );
  }
};
