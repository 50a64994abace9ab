import type { Account } from "../accounts/account.ts";
import { pauseAfterWaitMs } from "../client/backoff.ts";
import type { ProviderError } from "../client/provider-error.ts";
import type { Command, CommandRequestBody } from "../ledger/command.ts";
import { waitBeforeSending } from "../ledger/command-transitions.ts";
import { checkGuards, type GuardReport } from "./check-guards.ts";
import type { CommandDeps } from "./deps.ts";
import { wouldSend } from "./dry-run.ts";
import { cancel, fail, succeed } from "./end.ts";
import type { CommandOperation } from "./operations/operation.ts";

interface HoldContext {
  readonly deps: CommandDeps;
  readonly account: Account;
  readonly request: CommandRequestBody;
  readonly operation: CommandOperation;
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
    const path = `guards.${index}`;
    const problems = [{ path, rule: error.message }, ...error.problems];
    return fail(command, { now, reason: "refused", problems });
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
  const problems = [{ path, rule: `${rule}; an earlier request was sent, and its reply was lost` }];
  return fail(command, { now, reason: "unknown-outcome", problems });
};

/** What becomes of a command that must not send now; undefined when it may. */
export const heldBack = async (
  context: HoldContext,
  command: Command,
): Promise<Command | undefined> => {
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
            wouldSend: wouldSend(operation.operation, account.pathOf(operation.operation), request),
          })
        : undefined;
    default:
      return report satisfies never;
  }
};
