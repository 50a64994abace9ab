import type { ThresholdConfig } from "./config.ts";
import type { ActualThreshold } from "./plan.ts";
import { targetKey, targetOf } from "./threshold.ts";
import type { ThresholdSync } from "./threshold-sync.ts";

/** What was applied, where thresholds cannot be listed, or not those of the client in question. */
export type Applied = NonNullable<ThresholdSync["applied"]>;

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

/** The thresholds that are there, as far as it is remembered. */
export const actualOf = (applied: Applied): readonly ActualThreshold[] =>
  applied.flatMap(({ limit, ...each }) =>
    limit === null ? [] : [{ ...targetOf(each), ...(limit !== undefined && { limit }) }],
  );

/** What is too much to be remembered for each is forgotten: such a change is made again. */
export const fitting = (applied: Applied): Applied =>
  bytesOf(applied) > 2 * MAX_BYTES
    ? applied.map((each) => (each.open ? targetOf(each) : each))
    : applied;
