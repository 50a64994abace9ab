import pLimit from "p-limit";
import { followTask } from "../contract/tasks.ts";
import { type Command, commands, isEnded, type Resolution } from "../engine/command.ts";
import { cancel, commandResolved, leaveUnknown } from "../engine/command-events.ts";
import {
  breakAttempt,
  endWait,
  noteCancelRequest,
  resolveOutcome,
} from "../engine/command-transitions.ts";
import { depsFor } from "../engine/deps.ts";
import { changeCommand, type EndDeps } from "../engine/finish.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { endPause, pauseEndOf, rateLimits } from "../provider/rate-limit.ts";
import type { CancelAnswer, LiftAnswer, ResolveAnswer, Verdict } from "./answers.ts";

/**
 * How far the clock of whoever asks may be from that of the lease's holder, who is taken for gone only
 * so long after its end.
 */
const CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;
/** The poller is about to take a lease away that has run out. */
const SHORTEST_WAIT_MS = 1_000;

const leaseOf = ({ state }: Command) => (state.status === "running" ? state.lease : undefined);

/** Whether it follows a task that it has not started, so that an end of it changes nothing there. */
const onlyFollows = ({ operation, state }: Command): boolean =>
  operation === followTask.id && state.status === "following";

/** The command as ended by a person, or unchanged when nobody may end it now. */
const stopped = (found: Command, now: number): Command => {
  if (onlyFollows(found)) {
    const rule = "a person has stopped it; the task itself goes on";
    const noted = { ...found, cancelRequestedAt: now };
    return cancel(noted, { now, reason: "requested", problems: [{ path: "", rule }] });
  }
  const lease = leaseOf(found);
  const isSenderGone = lease !== undefined && lease.until + CLOCK_DIFFERENCE_MS <= now;
  const command = isSenderGone ? breakAttempt(found, now, now) : found;
  if (isEnded(command) || command.state.status === "following" || leaseOf(command)) return found;
  const noted = noteCancelRequest(command, now);
  const problem = { path: "", rule: "a person has stopped it" };
  // The request may have taken effect already, so the end must not say that it did not.
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
      endedAt: new Date(endedAt).toISOString(),
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

/**
 * Ends a command because a person wants it, where nothing of it is under way. One conditional write;
 * its lane and its event are left to whoever finishes ended commands. Asked again, it answers the same.
 * @returns undefined when there is no such command
 */
export const cancelCommand = async (
  deps: EndDeps & { readonly clock: Clock },
  key: string,
): Promise<CancelAnswer | undefined> => {
  const found = await commands.read(deps.ledger, key);
  if (!found) return undefined;
  const value = await changeCommand(depsFor(deps, found.value), key, (command) =>
    stopped(command, deps.clock.now()),
  );
  return cancelAnswer(value, deps.clock.now());
};

/** Whether nothing of a verdict would be lost if the kept one stays. */
const says = (resolution: Resolution, { applied, note }: Verdict): boolean =>
  resolution.applied === applied && (note === undefined || note === resolution.note);

const resolveAnswer = (command: Command, verdict: Verdict): ResolveAnswer => {
  if (!isEnded(command)) return { kind: "open", status: command.state.status };
  const { resolution, state } = command;
  if (!resolution) {
    const { status, reason } = state;
    return { kind: "known", status, ...(reason !== undefined && { reason }) };
  }
  return {
    ...resolution,
    kind: says(resolution, verdict) ? "resolved" : "resolved-otherwise",
    resolvedAt: new Date(resolution.resolvedAt).toISOString(),
  };
};

/**
 * Keeps a person's verdict about a command that ended with an unknown outcome, once. One conditional
 * write; its event is left to whoever finishes ended commands. Asked again, it answers the same.
 * @returns undefined when there is no such command
 */
export const resolveCommand = async (
  deps: { readonly ledger: Ledger; readonly clock: Clock },
  key: string,
  verdict: Verdict,
): Promise<ResolveAnswer | undefined> => {
  if (!(await commands.read(deps.ledger, key))) return undefined;
  const resolution: Resolution = {
    applied: verdict.applied,
    resolvedAt: deps.clock.now(),
    ...(verdict.note !== undefined && { note: verdict.note }),
  };
  const { value } = await commands.update(deps.ledger, key, (command) =>
    resolveOutcome(command, resolution, commandResolved(command, resolution)),
  );
  return resolveAnswer(value, verdict);
};

/** No pause is longer: commands that wait for one are due within it. */
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;
const MAX_COMMANDS = 10_000;
const MAX_AT_ONCE = 8;
const PREFIX = `${commands.kind}#`;

const PAUSED: ReadonlySet<string> = new Set(["paused", "throttled"]);

/** Whether it waits because the provider has asked for a pause. */
const waitsForPause = (command: Command, account: string): boolean => {
  const { state, attempts } = command;
  if (command.account !== account || state.status !== "running" || state.lease) return false;
  return PAUSED.has(state.because ?? attempts.at(-1)?.code ?? "");
};

interface LiftDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** @returns whether the command waited for the pause, and goes on now */
const release = async (
  { ledger, clock }: LiftDeps,
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
    // The poller reports it at each check. The other commands must not wait for it.
    if (isUnreadable(error)) return false;
    throw error;
  }
};

/**
 * Lets an account send again although the provider has asked for a pause, and its commands go on at
 * once. Repeatable, so that a lift that died half-way is done again.
 * @returns undefined when nothing was ever sent for an account of that name
 */
export const liftPause = async (
  deps: LiftDeps,
  account: string,
): Promise<LiftAnswer | undefined> => {
  const { ledger, clock } = deps;
  const found = await rateLimits.read(ledger, account);
  if (!found) return undefined;
  const now = clock.now();
  const until = pauseEndOf(found.value, now);
  await rateLimits.update(ledger, account, endPause);
  const due = await ledger.listDue(now + LONGEST_PAUSE_MS, MAX_COMMANDS);
  const keys = due.filter(({ key }) => key.startsWith(PREFIX));
  const limit = pLimit(MAX_AT_ONCE);
  const released = await Promise.all(
    keys.map(({ key }) => limit(() => release(deps, account, key.slice(PREFIX.length)))),
  );
  const count = released.filter(Boolean).length;
  return until === undefined
    ? { kind: "not-paused", commands: count }
    : { kind: "lifted", until: new Date(until).toISOString(), commands: count };
};
