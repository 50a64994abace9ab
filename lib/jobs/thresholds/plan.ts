import type { Target, Threshold } from "./threshold.ts";
import { targetKey, targetOf } from "./threshold.ts";

/** A threshold as the provider has it, or as the ledger remembers it. */
export interface ActualThreshold extends Target {
  /** Decimal text; absent: it has none, or a change of it was begun and may have taken effect or not. */
  readonly limit?: string | undefined;
  readonly uuid?: string | undefined;
}

/** One step from the actual to the wanted thresholds. */
export type Change =
  | { readonly action: "create"; readonly threshold: Threshold }
  | { readonly action: "update"; readonly threshold: Threshold; readonly from: ActualThreshold }
  | { readonly action: "delete"; readonly from: ActualThreshold };

export interface Plan {
  readonly changes: readonly Change[];
  readonly unchangedCount: number;
}

const exactName = (target: Target): string => JSON.stringify(targetOf(target));

/** The one that is named exactly as wanted comes before one that only means the same. */
const closest = (wanted: Threshold, found: readonly ActualThreshold[]) =>
  found.find((each) => exactName(each) === exactName(wanted)) ?? found[0];

const changeFor = (
  wanted: Threshold,
  actual: ActualThreshold | undefined,
): Change | "unchanged" => {
  if (!actual) return { action: "create", threshold: wanted };
  if (actual.limit === wanted.limit) return "unchanged";
  // Under the name that the provider knows, or it would not find it.
  const threshold = { ...targetOf(actual), limit: wanted.limit };
  return { action: "update", threshold, from: actual };
};

const byTarget = (actual: readonly ActualThreshold[]) => {
  const found = new Map<string, ActualThreshold[]>();
  for (const each of actual) {
    const same = found.get(targetKey(each));
    if (same) same.push(each);
    else found.set(targetKey(each), [each]);
  }
  return found;
};

/**
 * Compares what is wanted with what is. Pure.
 * @param prune whether thresholds that are not wanted are deleted
 */
export const planChanges = (
  wanted: readonly Threshold[],
  actual: readonly ActualThreshold[],
  prune: boolean,
): Plan => {
  const found = byTarget(actual);
  const pairs = wanted.map((threshold) => {
    const match = closest(threshold, found.get(targetKey(threshold)) ?? []);
    return { match, change: changeFor(threshold, match) };
  });
  // By name, as the provider deletes: of two that are named alike neither can go without the other.
  const kept = new Set(pairs.flatMap(({ match }) => (match ? [exactName(match)] : [])));
  const unwanted = prune ? actual.filter((each) => !kept.has(exactName(each))) : [];
  return {
    changes: [
      ...pairs.flatMap(({ change }) => (change === "unchanged" ? [] : [change])),
      ...unwanted.map((from) => ({ action: "delete", from }) as const),
    ],
    unchangedCount: pairs.filter(({ change }) => change === "unchanged").length,
  };
};
