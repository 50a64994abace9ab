import { createRouter } from "../../../../lib/contract/routers.ts";
import { type NumberedAttempt, readAttempts } from "../../../../lib/engine/attempt-history.ts";
import { ATTEMPT_LEASE_MS } from "../../../../lib/platform/deployment.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { AMBIGUITY_WINDOW_MS } from "../plan/plan.ts";
import { departuresOf, type Ended, endedCommands } from "./ended-commands.ts";

/** Largest difference of two clocks, ms. */
const SKEW_MS = 15_000;
const UNKNOWN: ReadonlySet<string> = new Set(["ambiguous", "lost"]);
/** Codes of calls without a permit or a key. */
const UNSENT: ReadonlySet<string> = new Set([
  "budget-spent",
  "budget-unavailable",
  "key-unavailable",
  "paused",
]);

/** Whether a time lies within an attempt. One without an end may have lasted as long as its lease. */
const covers = ({ startedAt, endedAt }: NumberedAttempt, at: number): boolean =>
  at >= startedAt - SKEW_MS && at <= (endedAt ?? startedAt + ATTEMPT_LEASE_MS) + SKEW_MS;

const isAnswered = ({ disposition, status }: NumberedAttempt): boolean =>
  disposition === "answered" || status !== undefined;

/**
 * Whether an attempt follows a lock too early: the engine waits 10 s, and clocks may differ by 5 s.
 */
const isTooSoon = ({ code, endedAt }: NumberedAttempt, { startedAt }: NumberedAttempt): boolean =>
  code === "locked" && endedAt !== undefined && startedAt < endedAt + 5_000;

/**
 * Whether an attempt begins before the ambiguity window of the last send has passed. The window
 * begins at the latest when the lease of the sender ended, however late that was noticed.
 */
const isBeforeSettled = (
  { disposition = "", startedAt, endedAt }: NumberedAttempt,
  next: NumberedAttempt,
  skewMs: number,
): boolean =>
  UNKNOWN.has(disposition) &&
  endedAt !== undefined &&
  next.startedAt < Math.min(endedAt, startedAt + ATTEMPT_LEASE_MS) + AMBIGUITY_WINDOW_MS - skewMs;

/** What is known of the machines' clocks. */
interface Clocks {
  readonly hasJumped: boolean;
  /** Largest difference of two of them, ms. */
  readonly skewMs: number;
}

const untruths = (
  { attemptCount, lostReplies, operation }: Ended,
  attempts: readonly NumberedAttempt[],
  sent: readonly number[],
  { hasJumped, skewMs }: Clocks,
): readonly string[] => {
  const unknown = attempts.filter(({ disposition = "" }) => UNKNOWN.has(disposition));
  return [
    ...(attempts.length === attemptCount
      ? []
      : [`counts ${attemptCount} attempts, but its history has ${attempts.length}`]),
    ...(sent.some((at) => !attempts.some((attempt) => covers(attempt, at)))
      ? ["sent a request that its history does not have"]
      : []),
    ...attempts
      .filter((attempt) => isAnswered(attempt) && !sent.some((at) => covers(attempt, at)))
      .map(({ number }) => `attempt ${number} was answered, but no request was sent`),
    ...attempts
      .filter(({ code = "" }) => UNSENT.has(code))
      .map(
        ({ number, code }) =>
          `attempt ${number} is in the history although no request was sent: ${code}`,
      ),
    ...attempts
      .filter(({ endedAt }) => endedAt === undefined)
      .map(({ number }) => `attempt ${number} has no end`),
    ...attempts
      .slice(1)
      .filter((next, index) => !hasJumped && isTooSoon(attempts[index] ?? next, next))
      .map(({ number }) => `attempt ${number} began too soon after a lock`),
    ...attempts
      .slice(1)
      .filter(
        (next, index) =>
          !hasJumped &&
          operation === createRouter.id &&
          isBeforeSettled(attempts[index] ?? next, next, skewMs),
      )
      .map(({ number }) => `attempt ${number} began before the end of the ambiguity window`),
    ...(unknown.length === lostReplies
      ? []
      : [`has ${unknown.length} attempts without a reply, but lostReplies is ${lostReplies}`]),
  ];
};

/**
 * The ledger has the whole history of a command: every request is an attempt, and every attempt a
 * request.
 */
export const checkAttempts = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const commands = await endedCommands(cloud);
  const hasJumped = cloud.faults.struck.some(({ kind }) => kind === "clock jump");
  const clocks = { hasJumped, skewMs: cloud.plan.isSkewed ? SKEW_MS : 0 };
  const found = await Promise.all(
    commands.map(async (command) => {
      const attempts = await readAttempts(cloud.ledger.true, command.key, command);
      return untruths(command, attempts, departuresOf(cloud, command), clocks).map((text) => ({
        invariant: 0,
        text: `${command.key} ${text}`,
      }));
    }),
  );
  return found.flat();
};
