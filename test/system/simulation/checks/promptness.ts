import { readAttempts } from "../../../../lib/engine/attempt-history.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { BLIND, STARTS_AT } from "../plan/actors.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

/** Without faults a command begins, and is sent again, within less than the schedule's minute. */
const PROMPT_MS = 20_000;
/** In a crowd with tasks that are not listed, the reads of each task take up to so much of the permits. */
const SCARCE_MS = 60_000;
const LIST = "fetch GET /cloud/v1/tasks #";
const MAX_BACKOFF_MS = 60_000;
/** The pause between two checks grows with a task's age; the others are requests and retries. */
const PART_OF_DURATION = 0.2;
const FOUND_MS = 10_000;
/** Faults that cost one command another attempt, and other commands nothing. */
const HARMLESS = "no connection";
/** The poller runs once a minute, and a lease may last until then. */
const LATE_MS = 2 * 60_000;
const LONGEST_FREEZE_MS = 5 * 60_000;

/** When the last command before it in its lane ended, or when it was accepted. */
const freeSince = ({ chronicle }: Cloud, { key, lane, acceptedAt }: Ended): number => {
  const order = chronicle.entered.get(lane) ?? [];
  const before = order.slice(0, Math.max(0, order.indexOf(key)));
  return Math.max(acceptedAt, ...before.map((other) => chronicle.endedAt.get(other) ?? 0));
};

/** Attempts that began later than possible. */
const delaysOf = async (cloud: Cloud, command: Ended): Promise<readonly string[]> => {
  const attempts = await readAttempts(cloud.ledger.true, command.key, command);
  const isListed =
    command.account !== BLIND && !cloud.faults.struck.some(({ place }) => place.startsWith(LIST));
  const isScarce = cloud.plan.provider.crowd !== undefined && !isListed;
  const promptMs = PROMPT_MS + (isScarce ? SCARCE_MS : 0);
  return attempts.flatMap(({ number, startedAt }, index) => {
    const since = attempts[index - 1]?.endedAt ?? freeSince(cloud, command);
    const backoffMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** index);
    return startedAt > since + backoffMs + promptMs
      ? [`attempt ${number} came ${startedAt - since} ms late`]
      : [];
  });
};

/** The end of its tasks, if it was found later than their age allows. */
const lateEndOf = (cloud: Cloud, { key, state }: Ended): readonly string[] => {
  const { chronicle, plan, faults } = cloud;
  const { taskMs } = plan.provider;
  if (faults.struck.some(({ place }) => place.startsWith("fetch GET"))) return [];
  const begun = chronicle.effects.findLast(
    ({ command, taskIds }) => command === key && taskIds.length > 0,
  );
  const endedAt = chronicle.endedAt.get(key) ?? state.endedAt;
  // In a crowd, permits are scarce.
  const lateMs = begun && !plan.provider.crowd ? endedAt - begun.at - taskMs : 0;
  return lateMs > taskMs * PART_OF_DURATION + FOUND_MS
    ? [`the end of its tasks was found ${lateMs} ms late`]
    : [];
};

/**
 * No command is forgotten: without faults none waits for the poller to recover it, and in every run
 * each ends soon after its deadline.
 */
export const checkPromptness = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const { chronicle, faults, limits, keys, fates } = cloud;
  const commands = await endedCommands(cloud);
  const isFair =
    keys.replacements() === 0 &&
    faults.struck.every(({ kind }) => kind === HARMLESS) &&
    limits.struck.length === 0 &&
    fates.met.size === 0 &&
    // An operator's cancel leaves the lane to the poller.
    commands.every(({ state }) => state.reason !== "requested");
  // A command that waits for others, or repeats the reads of its guards, is not late.
  const prompt = commands.filter(
    ({ after = [], guards = [] }) => isFair && after.length === 0 && guards.length === 0,
  );
  const delays = await Promise.all(
    prompt.map(async (command) =>
      [...(await delaysOf(cloud, command)), ...lateEndOf(cloud, command)].map(
        (text) => `${command.key}: ${text}`,
      ),
    ),
  );
  const hasFrozen = faults.struck.some(({ kind }) => kind === "frozen");
  const disturbedUntil = (faults.calmSince() ?? STARTS_AT) + (hasFrozen ? LONGEST_FREEZE_MS : 0);
  const late = commands.flatMap(({ key, deadline, state }) => {
    const latest = Math.max(deadline, disturbedUntil) + LATE_MS;
    const endedAt = chronicle.endedAt.get(key) ?? state.endedAt;
    return endedAt > latest ? [`${key} ended ${endedAt - deadline} ms after its deadline`] : [];
  });
  return [...delays.flat(), ...late].map((text) => ({ invariant: 1, text }));
};
