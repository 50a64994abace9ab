import pLimit from "p-limit";
import { followTask } from "../contract/tasks.ts";
import { type Command, commands, isEnded, type Resolution } from "../engine/command.ts";
import { cancel, leaveUnknown } from "../engine/command-events.ts";
import {
  breakAttempt,
  endWait,
  noteCancelRequest,
  resolveOutcome,
} from "../engine/command-transitions.ts";
import { depsFor } from "../engine/deps.ts";
import { changeCommand, type EndDeps } from "../engine/finish.ts";
import { isoText } from "../events/event.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { endPause, rateLimits } from "../provider/rate-limit.ts";
import { pauseEndOf } from "../provider/rate-limiter.ts";
import type { CancelAnswer, LiftAnswer, ResolveAnswer, Verdict } from "./answers.ts";

/** Tolerance for clock differences: a lease holder counts as dead only this long after the lease expires. */
const CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;
/** Minimum of `waitMs`; the poller is about to end an expired lease. */
const SHORTEST_WAIT_MS = 1_000;

const leaseOf = ({ state }: Command) => (state.status === "running" ? state.lease : undefined);

/** Whether the command only follows a task, so that its end stops nothing at the provider. */
const onlyFollows = ({ operation, state }: Command): boolean =>
  operation === followTask.id && state.status === "following";

/** The command as ended by an operator, or unchanged while it cannot be ended. */
const stopped = (found: Command, now: number): Command => {
  if (onlyFollows(found)) {
    const rule = "an operator cancelled the command; the task continues at the provider";
    const noted = { ...found, cancelRequestedAt: now };
    return cancel(noted, { now, reason: "requested", problems: [{ path: "", rule }] });
  }
  const lease = leaseOf(found);
  const isSenderGone = lease !== undefined && lease.until + CLOCK_DIFFERENCE_MS <= now;
  const command = isSenderGone ? breakAttempt(found, now, now) : found;
  if (isEnded(command) || command.state.status === "following" || leaseOf(command)) return found;
  const noted = noteCancelRequest(command, now);
  const problem = { path: "", rule: "an operator cancelled the command" };
  // An earlier request may have taken effect, so that the outcome is unknown.
  return command.uncertain
    ? leaveUnknown(noted, { now, problem })
    : cancel(noted, { now, reason: "requested", problems: [problem] });
};

const cancelAnswer = (command: Command, now: number): CancelAnswer => {
  if (isEnded(command)) {
    const { status, reason, endedAt, tasks } = command.state;
    const ended = {
      status,
      ...(reason !== undefined && { reason }),
      endedAt: isoText(endedAt),
    };
    if (command.cancelRequestedAt === undefined) return { kind: "ended", ...ended };
    const unfollowed = tasks.map(({ id }) => id);
    return { kind: "stopped", ...ended, ...(unfollowed.length > 0 && { unfollowed }) };
  }
  if (command.state.status === "following") {
    const open = command.state.tasks.filter(({ end }) => !end);
    return { kind: "following", taskIds: open.map(({ id }) => id) };
  }
  const waitMs = (leaseOf(command)?.until ?? now) - now;
  return { kind: "under-way", waitMs: Math.max(SHORTEST_WAIT_MS, waitMs) };
};

interface ActionDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/**
 * Cancels a command for an operator, unless one of its requests is in flight. One conditional write; the
 * poller publishes the event and releases the lane. Idempotent: a repeat returns the same answer.
 * @returns undefined for an unknown command
 */
export const cancelCommand = async (
  deps: EndDeps & { readonly clock: Clock },
  key: string,
): Promise<CancelAnswer | undefined> => {
  const found = await commands.read(deps.ledger, key);
  if (!found) return undefined;
  const stop = (command: Command): Command => stopped(command, deps.clock.now());
  const { value } = await changeCommand(depsFor(deps, found.value), key, stop, found);
  return cancelAnswer(value, deps.clock.now());
};

/** The answer that `cancelCommand` would give now. Changes nothing. */
export const foreseeCancel = async (
  { ledger, clock }: ActionDeps,
  key: string,
): Promise<CancelAnswer | undefined> => {
  const found = await commands.read(ledger, key);
  const now = clock.now();
  return found && cancelAnswer(stopped(found.value, now), now);
};

/** Whether the stored resolution equals the verdict; a verdict without a note equals any note. */
const covers = (resolution: Resolution, { applied, note }: Verdict): boolean =>
  resolution.applied === applied && (note === undefined || note === resolution.note);

const resolveAnswer = (command: Command, verdict: Verdict): ResolveAnswer => {
  if (!isEnded(command)) return { kind: "open", status: command.state.status };
  const { resolution, state } = command;
  const { status, reason } = state;
  if (!resolution) return { kind: "known", status, ...(reason !== undefined && { reason }) };
  return {
    ...resolution,
    kind: covers(resolution, verdict) ? "resolved" : "resolved-otherwise",
    resolvedAt: isoText(resolution.resolvedAt),
  };
};

/**
 * Records an operator's verdict on a command that ended with an unknown outcome, once. One conditional
 * write; the poller publishes its event. Idempotent: a repeat returns the same answer.
 * @returns undefined for an unknown command
 */
export const resolveCommand = async (
  deps: ActionDeps,
  key: string,
  verdict: Verdict,
): Promise<ResolveAnswer | undefined> => {
  if (!(await commands.read(deps.ledger, key))) return undefined;
  const resolution: Resolution = { ...verdict, resolvedAt: deps.clock.now() };
  const { value } = await commands.update(deps.ledger, key, (command) =>
    resolveOutcome(command, resolution),
  );
  return resolveAnswer(value, verdict);
};

/** Maximum duration of a pause; a command that waits for its end is due within that time. */
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;
const MAX_COMMANDS = 10_000;
const PREFIX = `${commands.kind}#`;

const PAUSED: ReadonlySet<string> = new Set(["paused", "throttled"]);

const waitsForPause = (command: Command, account: string): boolean => {
  const { state, attempts } = command;
  if (command.account !== account || state.status !== "running" || state.lease) return false;
  return PAUSED.has(state.because ?? attempts.at(-1)?.code ?? "");
};

/** Releases a command. @returns whether it waited for the pause and continues now */
const release = async (
  { ledger, clock }: ActionDeps,
  account: string,
  key: string,
): Promise<boolean> => {
  const waits = (command: Command): boolean => waitsForPause(command, account);
  try {
    const found = await commands.read(ledger, key);
    if (!found || !waits(found.value)) return false;
    let isReleased = false;
    await commands.update(ledger, key, (command) => {
      const next = waits(command) ? endWait(command, clock.now()) : command;
      isReleased = next !== command;
      return next;
    });
    return isReleased;
  } catch (error) {
    // The poller reports the item at each check. One unreadable item must not block the other commands.
    if (isUnreadable(error)) return false;
    throw error;
  }
};

/**
 * Ends the pause that the provider requested for an account, and releases its commands at once.
 * Idempotent: a repeat completes an interrupted call.
 * @returns undefined if no command was ever sent for the account
 */
export const liftPause = async (
  deps: ActionDeps,
  account: string,
): Promise<LiftAnswer | undefined> => {
  const { ledger, clock } = deps;
  const found = await rateLimits.read(ledger, account);
  if (!found) return undefined;
  const now = clock.now();
  const until = pauseEndOf(found.value, now);
  await rateLimits.update(ledger, account, endPause);
  // A command in a pause is due at its end. Open tasks are due earlier, and may be many.
  const due = await ledger.listDue(now + LONGEST_PAUSE_MS, MAX_COMMANDS, undefined, now);
  const keys = due.filter(({ key }) => key.startsWith(PREFIX));
  const limit = pLimit(8);
  const released = await Promise.all(
    keys.map(({ key }) => limit(() => release(deps, account, key.slice(PREFIX.length)))),
  );
  const count = released.filter(Boolean).length;
  return until === undefined
    ? { kind: "not-paused", commands: count }
    : { kind: "lifted", until: isoText(until), commands: count };
};
