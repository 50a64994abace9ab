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
import { redactorOf, redactProblems } from "./redaction.ts";

/** What one attempt came back with. */
export type AttemptResult =
  | { readonly kind: "reply"; readonly reply: unknown }
  | { readonly kind: "error"; readonly error: ProviderError }
  /** Clearly refused while an earlier send is uncertain, and what that means. */
  | {
      readonly kind: "refused-again";
      readonly error: ProviderError;
      readonly meaning: RefusalMeaning;
    }
  /** As above, and what it means could not be found out now, `because` of that error. */
  | {
      readonly kind: "unexplained";
      readonly error: ProviderError;
      readonly because: ProviderError;
    };

/** So that the attempts that an item holds stay small beside its request. */
const MAX_MESSAGE_CHARACTERS = 200;

interface AttemptContext {
  readonly operation: Mutation;
  readonly now: number;
  readonly random: Random;
}

const afterReply = (command: Command, reply: unknown, { operation, now }: AttemptContext) => {
  if (operation.answers === "immediate")
    return succeed(command, { now, outcome: "done", result: reply });
  const { tasks } = z.parse(tasksReply, reply);
  if (tasks.length > 0) return followTasks(command, tasks);
  // After a lost reply nothing is left to do because it may have been done then.
  return succeed(command, { now, outcome: command.uncertain ? "done" : "no-op" });
};

const refuse = (command: Command, error: ProviderError, { operation, now }: AttemptContext) => {
  const redact = redactorOf(operation, command.request);
  const problems = redactProblems(problemsOfError(error), redact);
  return fail(command, { now, reason: "refused", problems });
};

/** Nothing was sent, because there was no permit or no key for it. */
export const isUnsent = ({ code, status }: ProviderError): boolean =>
  status === undefined && UNSENT.has(code);

const UNSENT: ReadonlySet<string> = new Set([
  "budget-spent",
  "budget-unavailable",
  "key-refused",
  "key-unavailable",
  "paused",
]);

const takeBack = (command: Command, error: ProviderError, { now, random }: AttemptContext) => {
  const pause = error.retryAfterMs || pauseAfterWaitMs(now - command.acceptedAt, random);
  const until = Math.min(now + pause, Math.max(now, command.deadline));
  return takeBackAttempt(command, until, error.code);
};

/** When to try again; at the deadline the poller ends the command, and no attempt starts after it. */
const nextAttemptAt = (
  { attemptCount, deadline }: Command,
  { retryAfterMs }: ProviderError,
  { now, random }: AttemptContext,
): number =>
  // `Retry-After: 0` names no pause.
  Math.min(now + (retryAfterMs || backoffMs(attemptCount, random)), Math.max(now, deadline));

const postpone = (command: Command, error: ProviderError, context: AttemptContext) =>
  waitBeforeSending(command, nextAttemptAt(command, error, context));

const afterError = (command: Command, error: ProviderError, context: AttemptContext): Command => {
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
      // The provider said yes; what it said beside that does not undo the effect.
      return succeed(command, { now: context.now, outcome: "done" });
    default:
      return error.disposition satisfies never;
  }
};

const afterRefusedAgain = (
  command: Command,
  error: ProviderError,
  meaning: RefusalMeaning,
  context: AttemptContext,
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

/** What an attempt came back with, as the history keeps it. */
const cameBack = (
  { request }: Command,
  result: AttemptResult,
  { operation, now }: AttemptContext,
): Omit<Attempt, "startedAt"> => {
  if (result.kind === "reply") return { endedAt: now, disposition: "answered" };
  const { disposition, code, status, message } = result.error;
  // Every message of the client begins so; the history is that of one operation.
  const said = message.replace(`${operation.id}: `, "");
  return {
    endedAt: now,
    disposition,
    code,
    ...(status !== undefined && { status }),
    message: clipped(redactorOf(operation, request)(said), MAX_MESSAGE_CHARACTERS),
  };
};

/** What a command becomes after an attempt. Pure. */
export const afterAttempt = (
  sending: Command,
  result: AttemptResult,
  context: AttemptContext,
): Command => {
  const command = endAttempt(sending, cameBack(sending, result, context));
  switch (result.kind) {
    case "reply":
      return afterReply(command, result.reply, context);
    case "error":
      return afterError(command, result.error, context);
    case "refused-again":
      return afterRefusedAgain(command, result.error, result.meaning, context);
    case "unexplained": {
      const { because } = result;
      return waitBeforeSending(command, nextAttemptAt(command, because, context), because.code);
    }
    default:
      return result satisfies never;
  }
};
