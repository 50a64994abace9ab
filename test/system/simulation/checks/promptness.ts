import { readAttempts } from "../../../../lib/engine/attempt-history.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

/** Where nothing goes wrong, a command begins, and is sent again, in less than the schedule's minute. */
const PROMPT_MS = 20_000;
const MAX_BACKOFF_MS = 60_000;
/** What costs a command another try, and nobody else anything. */
const HARMLESS = "no connection";
/** The poller comes once a minute, and whoever sends may hold a lease until then. */
const LATE_MS = 2 * 60_000;
const LONGEST_FREEZE_MS = 5 * 60_000;

/** When the last of those before it in its lane had ended, or it was accepted. */
const freeSince = ({ chronicle }: Cloud, { key, lane, acceptedAt }: Ended): number => {
  const order = chronicle.entered.get(lane) ?? [];
  const before = order.slice(0, Math.max(0, order.indexOf(key)));
  return Math.max(acceptedAt, ...before.map((other) => chronicle.endedAt.get(other) ?? 0));
};

/** Beginnings and repetitions of a command that came later than they could. */
const delaysOf = async (cloud: Cloud, command: Ended): Promise<readonly string[]> => {
  const attempts = await readAttempts(cloud.ledger.true, command.key, command);
  return attempts.flatMap(({ number, startedAt }, index) => {
    const since = attempts[index - 1]?.endedAt ?? freeSince(cloud, command);
    const backoffMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** index);
    return startedAt > since + backoffMs + PROMPT_MS
      ? [`attempt ${number} came ${startedAt - since} ms late`]
      : [];
  });
};

/**
 * Nobody is forgotten: where nothing goes wrong, a command has not to wait for whoever looks after
 * those that were lost; and wherever, it ends soon after its deadline.
 */
export const checkPromptness = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const { chronicle, faults, keys, startsAt } = cloud;
  const commands = await endedCommands(cloud);
  const isFair =
    keys.replacements() === 0 &&
    faults.struck.every(({ kind }) => kind === HARMLESS) &&
    // Whoever ends one by hand leaves its lane to the poller.
    commands.every(({ state }) => state.reason !== "requested");
  // Whoever waits for others is not late, nor is whoever asks for its tags again.
  const prompt = commands.filter(
    ({ after = [], guards = [] }) => isFair && after.length === 0 && guards.length === 0,
  );
  const delays = await Promise.all(
    prompt.map(async (command) =>
      (await delaysOf(cloud, command)).map((text) => `${command.key}: ${text}`),
    ),
  );
  const hasFrozen = faults.struck.some(({ kind }) => kind === "frozen");
  const disturbedUntil = (faults.calmSince() ?? startsAt) + (hasFrozen ? LONGEST_FREEZE_MS : 0);
  const late = commands.flatMap(({ key, deadline, state }) => {
    const latest = Math.max(deadline, disturbedUntil) + LATE_MS;
    const endedAt = chronicle.endedAt.get(key) ?? state.endedAt;
    return endedAt > latest ? [`${key} ended ${endedAt - deadline} ms after its deadline`] : [];
  });
  return [...delays.flat(), ...late].map((text) => ({ invariant: 1, text }));
};
