import pLimit from "p-limit";
import { type Command, commands } from "../engine/command.ts";
import { endWait } from "../engine/command-transitions.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { budgets, endPause, pauseEndOf } from "../provider/rate-limit.ts";
import type { LiftAnswer } from "./answers.ts";

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
  const found = await budgets.read(ledger, account);
  if (!found) return undefined;
  const now = clock.now();
  const until = pauseEndOf(found.value, now);
  await budgets.update(ledger, account, endPause);
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
