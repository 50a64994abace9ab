import type { Problem } from "../contract/problem.ts";
import { listedProblems } from "../events/event.ts";
import type { Command } from "./command.ts";
import {
  type Cancellation,
  commandCancelled,
  commandFailed,
  commandSucceeded,
  type Failure,
  type Success,
  wouldSendData,
} from "./command-events.ts";
import { endCommand } from "./command-transitions.ts";

/** Ends a command as succeeded, with the event that says so. Ended already: unchanged. */
export const succeed = (command: Command, success: Success): Command =>
  endCommand(
    command,
    {
      status: "succeeded",
      endedAt: success.now,
      outcome: success.outcome,
      ...(success.wouldSend && { wouldSend: wouldSendData(success.wouldSend) }),
    },
    commandSucceeded(command, success),
  );

/** Ends a command as failed, with the event that says so. Ended already: unchanged. */
export const fail = (command: Command, failure: Failure): Command =>
  endCommand(
    command,
    {
      status: "failed",
      endedAt: failure.now,
      reason: failure.reason,
      problems: listedProblems(failure.problems),
    },
    commandFailed(command, failure),
  );

/** Ends a command of which nothing took effect, with the event that says why. Ended already: unchanged. */
export const cancel = (command: Command, cancellation: Cancellation): Command =>
  endCommand(
    command,
    {
      status: "cancelled",
      endedAt: cancellation.now,
      reason: cancellation.reason,
      problems: listedProblems(cancellation.problems),
      ...(cancellation.tag !== undefined && { tag: cancellation.tag }),
    },
    commandCancelled(command, cancellation),
  );

/** The newest request that may have taken effect, for a person who has to look into it. */
const lostRequest = ({ attempts, attemptCount }: Command): string => {
  const index = attempts.findLastIndex(
    ({ disposition }) => disposition === "ambiguous" || disposition === "lost",
  );
  const attempt = attempts[index];
  if (!attempt) return "a request got no clear reply";
  const number = attemptCount - attempts.length + index + 1;
  // The sender of a lost one died: there is no code.
  const cause = attempt.code ?? "its sender was interrupted";
  return `request ${number} got no clear reply (${cause})`;
};

/**
 * Ends a command with an unknown outcome. Says which request got no clear
 * reply, and why that was not resolved.
 */
export const leaveUnknown = (
  command: Command,
  end: { readonly now: number; readonly problem: Problem; readonly fields?: readonly Problem[] },
): Command => {
  const { now, problem, fields = [] } = end;
  const rule = `${lostRequest(command)}; ${problem.rule}`;
  const problems = [{ path: problem.path, rule }, ...fields];
  return fail(command, { now, reason: "unknown-outcome", problems });
};

/** Ends a command whose time is over; a send that was never answered makes the outcome unknown. */
export const expire = (command: Command, now: number): Command => {
  if (command.state.status === "following") {
    const open = command.state.tasks.filter(({ end }) => !end).map(({ id }) => id);
    return fail(command, {
      now,
      reason: "deadline",
      problems: [{ path: "deadline", rule: `passed while these tasks ran: ${open.join(", ")}` }],
      tasks: command.state.tasks,
    });
  }
  return command.uncertain
    ? leaveUnknown(command, { now, problem: { path: "", rule: "the deadline passed" } })
    : fail(command, {
        now,
        reason: "deadline",
        problems: [{ path: "deadline", rule: lastTrouble(command) }],
      });
};

const lastTrouble = (command: Command): string => {
  const because = command.state.status === "running" ? command.state.because : undefined;
  if (because !== undefined) return `passed while the command could not be sent: ${because}`;
  const code = command.attempts.at(-1)?.code;
  if (command.state.status === "waiting") {
    return command.state.lookAt === undefined
      ? "passed while the command waited in its lane"
      : "passed while the command waited for others";
  }
  return code ? `passed after ${command.attemptCount} attempts, the last: ${code}` : "passed";
};
