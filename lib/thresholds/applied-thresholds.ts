import type { ThresholdSync } from "../ledger/threshold-sync.ts";
import type { AppliedChange } from "./apply.ts";
import type { ThresholdConfig } from "./config.ts";
import type { Change } from "./plan.ts";
import { targetKey, targetOf } from "./threshold.ts";

/*
 * What was applied, for accounts whose thresholds cannot be listed, or not those of the client in
 * question. A change is noted before it is made: from then on its target is there
 * without a limit, and the next plan makes the change again, until it is known to be done.
 */

type Applied = NonNullable<ThresholdSync["applied"]>;

/**
 * An item of the ledger holds 400 kB. What is wanted, what is still to be deleted, which is not more,
 * and an event of 100 kB have to fit in.
 */
const MAX_BYTES = 145_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * What is remembered while this config holds. Without `prune` that is what is wanted, and of what is
 * wanted no more as much as there is room for: what is forgotten stays at the provider, because
 * nothing is pruned that is not remembered.
 * @returns undefined when there is no room for all that is wanted
 */
export const rememberedFor = (
  { thresholds, prune }: ThresholdConfig,
  applied: Applied = [],
): Applied | undefined => {
  const wanted = thresholds.map((each) => ({ ...targetOf(each), limit: each.limit }));
  let room = MAX_BYTES - bytesOf(wanted);
  if (room < 0) return undefined;
  if (prune) return applied;
  const targets = new Set(wanted.map(targetKey));
  return applied.filter((each) => {
    if (targets.has(targetKey(each))) return true;
    room -= bytesOf(each) + 1;
    return room >= 0;
  });
};

const byTarget = (applied: Applied | undefined) =>
  new Map((applied ?? []).map((each) => [targetKey(each), each]));

const targetOfChange = (change: Change) =>
  targetOf(change.action === "delete" ? change.from : change.threshold);

/** Notes that these changes are about to be made. */
export const withIntents = (applied: Applied | undefined, changes: readonly Change[]): Applied => {
  const entries = byTarget(applied);
  for (const target of changes.map(targetOfChange)) entries.set(targetKey(target), target);
  return [...entries.values()];
};

/** Notes what was done; everything else stays without a limit. */
export const withOutcomes = (
  applied: Applied | undefined,
  results: readonly AppliedChange[],
): Applied => {
  const entries = byTarget(applied);
  for (const { change, outcome } of results) {
    if (outcome !== "done") continue;
    const target = targetOfChange(change);
    if (change.action === "delete") entries.delete(targetKey(target));
    else entries.set(targetKey(target), { ...target, limit: change.threshold.limit });
  }
  return [...entries.values()];
};
