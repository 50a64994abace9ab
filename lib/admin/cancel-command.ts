import { followTask } from "../contract/tasks.ts";
import { type Command, commands, isEnded } from "../engine/command.ts";
import { breakAttempt, noteCancelRequest } from "../engine/command-transitions.ts";
import { cancel, leaveUnknown } from "../engine/end.ts";
import { depsFor } from "../engine/log-fields.ts";
import { changeCommand, type EndDeps } from "../engine/write-command.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { CancelAnswer } from "./answers.ts";

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

const answerOf = (command: Command, now: number): CancelAnswer => {
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
  const { value } = await changeCommand(depsFor(deps, found.value), key, (command) =>
    stopped(command, deps.clock.now()),
  );
  return answerOf(value, deps.clock.now());
};
