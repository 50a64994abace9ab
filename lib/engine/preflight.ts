import type { Mutation } from "../contract/operation.ts";
import type { Account } from "../provider/accounts.ts";
import { type ProviderError, problemsOfError } from "../provider/provider-error.ts";
import { pauseAfterWaitMs } from "../provider/retrying-client.ts";
import { checkGuards, type GuardReport } from "./check-guards.ts";
import type { Command, CommandRequestBody } from "./command.ts";
import { waitBeforeSending } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { wouldSend } from "./dry-run.ts";
import { cancel, fail, leaveUnknown, succeed } from "./end.ts";

interface HoldContext {
  readonly deps: CommandDeps;
  readonly account: Account;
  readonly request: CommandRequestBody;
  readonly operation: Mutation;
  readonly signal: AbortSignal;
}

/** A tag that cannot be read now decides nothing, unless it never can be. */
const afterUnreadable = (
  { deps }: HoldContext,
  command: Command,
  index: number,
  error: ProviderError,
): Command => {
  const now = deps.clock.now();
  if (error.disposition === "permanent") {
    const [problem, ...fields] = problemsOfError(error, `guards.${index}`);
    // Whatever was sent before may have been done.
    return command.uncertain
      ? leaveUnknown(command, { now, problem, fields })
      : fail(command, { now, reason: "refused", problems: [problem, ...fields] });
  }
  const pause = error.retryAfterMs || pauseAfterWaitMs(now - command.acceptedAt, deps.random);
  return waitBeforeSending(command, Math.min(now + pause, command.deadline), error.code);
};

const afterBroken = (
  { deps }: HoldContext,
  command: Command,
  { index, rule, tag }: Extract<GuardReport, { kind: "broken" }>,
): Command => {
  const now = deps.clock.now();
  const path = `guards.${index}`;
  if (!command.uncertain) {
    return cancel(command, { now, reason: "guard", problems: [{ path, rule }], tag });
  }
  // It may have been done already, so nobody may read that it was not.
  return leaveUnknown(command, { now, problem: { path, rule } });
};

/** How many requests come now: the guards', and that of the command itself. */
const requestsAhead = ({ operation }: HoldContext, { guards = [], dryRun }: Command): number =>
  guards.length + (operation.follows || dryRun ? 0 : 1);

/**
 * Has the turns of all requests that come now, or none: guards that were read in vain would have to
 * be read again, and many commands would keep each other from ever sending.
 */
const awaitTurns = async (context: HoldContext, command: Command): Promise<Command | undefined> => {
  const turns = requestsAhead(context, command);
  if (turns === 0) return undefined;
  const readiness = await context.account.ready(context.signal, turns);
  if (readiness.kind === "ready") return undefined;
  const until = Math.min(readiness.until, command.deadline);
  return waitBeforeSending(command, until, readiness.because);
};

/** What becomes of a command that must not send now; undefined when it may. */
export const heldBack = async (
  context: HoldContext,
  command: Command,
): Promise<Command | undefined> => {
  const waiting = await awaitTurns(context, command);
  if (waiting) return waiting;
  const { deps, account, operation, request, signal } = context;
  const report = await checkGuards(account, command, signal);
  switch (report.kind) {
    case "unreadable":
      return afterUnreadable(context, command, report.index, report.error);
    case "broken":
      return afterBroken(context, command, report);
    case "holds":
      return command.dryRun
        ? succeed(command, {
            now: deps.clock.now(),
            outcome: "dry-run",
            wouldSend: wouldSend(operation, account.pathOf(operation), request),
          })
        : undefined;
    default:
      return report satisfies never;
  }
};
