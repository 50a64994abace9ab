import * as z from "zod";
import { clipped } from "../../events/event.ts";
import { bytesOf } from "./applied-thresholds.ts";
import { driftCounts } from "./sync-events.ts";
import { type Change, type Plan, targetOfChange } from "./threshold.ts";

/*
 * The last drifts of an account, in the record of its thresholds. They are written together with the event
 * `ThresholdsDrifted`, so they cost no write of their own.
 */

/** Drifts that the record keeps. */
const MAX_DRIFTS = 50;
/** Names that a drift keeps. */
const MAX_NAMES = 10;
/** Length of a name; storages and buckets may have names of any length. */
const MAX_NAME_CHARACTERS = 100;
/** Room for 50 drifts with 10 names of about 70 characters. DynamoDB counts one write unit for each kB. */
const MAX_BYTES = 40_000;

export const driftSchema = z.object({
  /** Time of the event, epoch ms. */
  at: z.int(),
  missing: z.int(),
  different: z.int(),
  unwanted: z.int(),
  /** The first thresholds that differed; empty for an old drift where the record has no room. */
  names: z.array(z.string()),
});

/** The oldest first. */
export const driftsSchema = z.array(driftSchema);

export type Drift = z.output<typeof driftSchema>;

/** Names a threshold in one line: `reaching_used_space storage films bucket cuts`. */
const nameOf = (change: Change): string => {
  const { name, storage_name, bucket_name } = targetOfChange(change);
  const text = [
    name,
    ...(storage_name ? [`storage ${storage_name}`] : []),
    ...(bucket_name ? [`bucket ${bucket_name}`] : []),
  ].join(" ");
  return clipped(text, MAX_NAME_CHARACTERS);
};

/** @param at time of the event, epoch ms */
export const driftOf = (at: number, plan: Plan): Drift => ({
  at,
  ...driftCounts(plan),
  names: plan.changes.slice(0, MAX_NAMES).map(nameOf),
});

/**
 * The drifts that fit, the oldest first. Without room for all of them, the oldest lose their names first.
 * @param room bytes that the rest of the record leaves
 */
export const driftsWithin = (drifts: readonly Drift[], room: number): Drift[] => {
  let left = Math.min(room, MAX_BYTES);
  /** Takes the bytes of a value and its comma. Once a value does not fit, no later one does. */
  const takes = (value: unknown): boolean => {
    left -= bytesOf(value) + 1;
    return left >= 0;
  };
  return drifts
    .slice(-MAX_DRIFTS)
    .toReversed()
    .filter((drift) => takes({ ...drift, names: [] }))
    .map((drift) => (takes(drift.names) ? drift : { ...drift, names: [] }))
    .toReversed();
};
