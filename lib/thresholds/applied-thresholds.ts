import type { ThresholdSync } from "../ledger/threshold-sync.ts";
import type { AppliedChange } from "./apply.ts";
import type { Change } from "./plan.ts";
import { targetKey, targetOf } from "./threshold.ts";

/*
 * What was applied, for accounts whose thresholds cannot be listed, or not those of the client in
 * question. A change is noted before it is made: from then on its target is there
 * without a limit, and the next plan makes the change again, until it is known to be done.
 */

type Applied = NonNullable<ThresholdSync["applied"]>;

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
