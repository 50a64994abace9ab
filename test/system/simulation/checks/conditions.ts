import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { doHold } from "../plan/guards.ts";
import { departuresOf, type Ended, endedCommands } from "./ended-commands.ts";

/** Clocks differ, and between a check and its consequence there may be several slow calls. */
const LATE_MS = 5_000;
const SLOWLY_LATE_MS = 45_000;

/** How long after a check a machine may act on it, ms. */
const lateness = ({ faults }: Cloud): number =>
  faults.struck.some(({ kind }) => /slow|frozen|jump|turn/.test(kind)) ? SLOWLY_LATE_MS : LATE_MS;

const brokenGuards = (
  { chronicle }: Cloud,
  { guards = [], state }: Ended,
  sent: readonly number[],
): readonly string[] => {
  const [holdBefore, holdAfter] = doHold(guards);
  const changedAt = chronicle.tagChangedAt ?? Number.POSITIVE_INFINITY;
  const isBrokenAt = (at: number): boolean =>
    at < changedAt ? !holdBefore : !holdAfter && (!holdBefore || at > changedAt + SLOWLY_LATE_MS);
  const neverBroken = holdBefore && (holdAfter || state.endedAt < changedAt - SLOWLY_LATE_MS);
  return [
    ...(sent.some(isBrokenAt) ? ["was sent although a guard did not hold"] : []),
    ...(state.outcome === "dry-run" && isBrokenAt(state.endedAt)
      ? ["ended as a dry run although a guard did not hold"]
      : []),
    ...(neverBroken && state.reason === "guard" ? ["was cancelled by a guard that holds"] : []),
  ];
};

const brokenDryRun = ({ dryRun = false, state }: Ended, sent: readonly number[]) => [
  ...(dryRun && sent.length > 0 ? ["was sent although it is a dry run"] : []),
  ...(state.status === "succeeded" && (state.outcome === "dry-run") !== dryRun
    ? [`ended with outcome ${state.outcome}, which does not fit its dryRun`]
    : []),
];

/** More than a slow read and the tries of a throttled write. */
const LONGEST_READ_MS = 60_000;

/** A command may start when all commands of `after` have succeeded and taken effect. */
const brokenOrder = (
  { chronicle }: Cloud,
  { sender, after = [], dryRun, state, deadline }: Ended,
  sent: readonly number[],
  all: ReadonlyMap<string, Ended>,
): readonly string[] => {
  const hasGoneOn = sent.length > 0 || state.status === "succeeded";
  const wentOnAt = sent[0] ?? state.endedAt;
  const opens = (other: Ended | undefined): boolean =>
    other?.state.status === "succeeded" && (other.state.outcome !== "dry-run" || dryRun === true);
  const isInTime = (key: string): boolean =>
    (chronicle.endedAt.get(key) ?? Number.POSITIVE_INFINITY) <= wentOnAt || sent.length === 0;
  const closed = after.filter((id) => {
    const key = `${sender}/${id}`;
    return !opens(all.get(key)) || !isInTime(key);
  });
  // A command that expires may have read the others while they ran.
  const readMs = state.endedAt < deadline ? 0 : LONGEST_READ_MS;
  const endedBefore = after.every(
    (id) => (all.get(`${sender}/${id}`)?.state.endedAt ?? 0) + readMs < state.endedAt,
  );
  if (state.reason === "dependency" && closed.length === 0 && endedBefore) {
    return ["was cancelled as dependent, but the commands of after have succeeded"];
  }
  return hasGoneOn ? closed.map((id) => `did not wait for ${id}`) : [];
};

const brokenDeadline = (
  cloud: Cloud,
  { deadline }: Ended,
  sent: readonly number[],
): readonly string[] =>
  sent.some((at) => at > deadline + lateness(cloud)) ? ["was sent after its deadline"] : [];

/** Guards, `after`, `dryRun` and the deadline of each command hold. */
export const checkConditions = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const commands = await endedCommands(cloud);
  const all = new Map(commands.map((command) => [command.key, command]));
  return commands.flatMap((command) => {
    const sent = departuresOf(cloud, command);
    return [
      ...brokenGuards(cloud, command, sent),
      ...brokenDryRun(command, sent),
      ...brokenOrder(cloud, command, sent, all),
      ...brokenDeadline(cloud, command, sent),
    ].map((text) => ({ invariant: 0, text: `${command.key} ${text}` }));
  });
};
