import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { tasksReply } from "../contract/values.ts";
import { clipped } from "../events/event.ts";
import type { Random } from "../platform/ports/random.ts";
import { type ProviderError, problemsOfError } from "../provider/provider-error.ts";
import { backoffMs, pauseAfterWaitMs } from "../provider/retrying-client.ts";
import type { RefusalMeaning } from "./after-ambiguous-send.ts";
import type { Attempt } from "./attempt-history.ts";
import type { Command } from "./command.ts";
import { fail, leaveUnknown, succeed } from "./command-events.ts";
import {
  endAttempt,
  followTasks,
  markUncertain,
  takeBackAttempt,
  waitBeforeSending,
} from "./command-transitions.ts";
import { redactorOf } from "./redaction.ts";

/** The result of one attempt. */
export type AttemptResult =
  | { readonly kind: "reply"; readonly reply: unknown }
  | { readonly kind: "error"; readonly error: ProviderError }
  /** Clearly refused while an earlier send is uncertain, with the meaning of the refusal. */
  | {
      readonly kind: "refused-again";
      readonly error: ProviderError;
      readonly meaning: RefusalMeaning;
    }
  /** As above, but the read that shows what it means failed, with the error in `because`. */
  | {
      readonly kind: "unexplained";
      readonly error: ProviderError;
      readonly because: ProviderError;
    };

/** Maximum length of an attempt's message: keeps the attempts of an item small beside its request. */
const MAX_MESSAGE_CHARACTERS = 200;

interface ReplyContext {
  readonly operation: Mutation;
  readonly now: number;
  readonly random: Random;
}

const afterReply = (command: Command, reply: unknown, { operation, now }: ReplyContext) => {
  if (operation.answers === "immediate")
    return succeed(command, { now, outcome: "done", result: reply });
  const { tasks } = z.parse(tasksReply(), reply);
  if (tasks.length > 0) return followTasks(command, tasks);
  // After a lost reply, nothing may be left to do because the lost request did it.
  return succeed(command, { now, outcome: command.uncertain ? "done" : "no-op" });
};

const refuse = (command: Command, error: ProviderError, { operation, now }: ReplyContext) => {
  const redact = redactorOf(operation, command.request);
  const problems = problemsOfError(error).map(({ path, rule }) => ({
    path: redact(path),
    rule: redact(rule),
  }));
  return fail(command, { now, reason: "refused", problems });
};

/**
 * Whether nothing was sent, because there was no permit, no usable key or no time left. A mutation that was aborted after
 * it left is ambiguous.
 */
export const isUnsent = ({ code, status, disposition }: ProviderError): boolean =>
  status === undefined && (UNSENT.has(code) || (code === "aborted" && disposition === "transient"));

const UNSENT: ReadonlySet<string> = new Set([
  "budget-spent",
  "budget-unavailable",
  "key-refused",
  "key-unavailable",
  "paused",
]);

/**
 * The end of a pause, at most the deadline: no attempt starts after it, and the poller ends the
 * command.
 */
const pauseEnd = ({ deadline }: Command, pauseMs: number, { now }: ReplyContext): number =>
  Math.min(now + pauseMs, Math.max(now, deadline));

const takeBack = (command: Command, error: ProviderError, context: ReplyContext) => {
  const { now, random } = context;
  const pause = error.retryAfterMs || pauseAfterWaitMs(now - command.acceptedAt, random);
  return takeBackAttempt(command, pauseEnd(command, pause, context), error.code);
};

const postpone = (
  command: Command,
  { retryAfterMs }: ProviderError,
  context: ReplyContext,
  because?: string,
) => {
  // `Retry-After: 0` names no pause.
  const pause = retryAfterMs || backoffMs(command.attemptCount, context.random);
  return waitBeforeSending(command, pauseEnd(command, pause, context), because);
};

const afterError = (command: Command, error: ProviderError, context: ReplyContext): Command => {
  switch (error.disposition) {
    case "permanent":
      return refuse(command, error, context);
    case "transient":
    case "throttled":
      return isUnsent(error)
        ? takeBack(command, error, context)
        : postpone(command, error, context);
    case "ambiguous":
      return postpone(markUncertain(command, context.now), error, context);
    case "contract":
      // The status was a success, so the request took effect whatever the body says.
      return succeed(command, { now: context.now, outcome: "done" });
    default:
      return error.disposition satisfies never;
  }
};

const afterRefusedAgain = (
  command: Command,
  error: ProviderError,
  meaning: RefusalMeaning,
  context: ReplyContext,
): Command => {
  switch (meaning.kind) {
    case "done":
      return succeed(command, { now: context.now, outcome: "done" });
    case "refused":
      return refuse(command, error, context);
    case "unknown":
      return leaveUnknown(command, { now: context.now, problem: { path: "", rule: meaning.rule } });
    default:
      return meaning satisfies never;
  }
};

/** The result of an attempt, as the history keeps it. */
const attemptEnd = (
  { request }: Command,
  result: AttemptResult,
  { operation, now }: ReplyContext,
): Omit<Attempt, "startedAt"> => {
  if (result.kind === "reply") return { endedAt: now, disposition: "answered" };
  const { disposition, code, status, message } = result.error;
  // The client begins each message with the operation, and the history is that of one operation.
  const text = message.replace(`${operation.id}: `, "");
  return {
    endedAt: now,
    disposition,
    code,
    ...(status !== undefined && { status }),
    message: clipped(redactorOf(operation, request)(text), MAX_MESSAGE_CHARACTERS),
  };
};

/** Returns the command's next state after an attempt. Pure. */
export const afterAttempt = (
  sending: Command,
  result: AttemptResult,
  context: ReplyContext,
): Command => {
  const command = endAttempt(sending, attemptEnd(sending, result, context));
  switch (result.kind) {
    case "reply":
      return afterReply(command, result.reply, context);
    case "error":
      return afterError(command, result.error, context);
    case "refused-again":
      return afterRefusedAgain(command, result.error, result.meaning, context);
    case "unexplained":
      return postpone(command, result.because, context, result.because.code);
    default:
      return result satisfies never;
  }
};
