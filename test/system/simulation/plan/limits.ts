import { type AwsLimits, awsLimitsOf } from "../../../../lib/local/aws-limits.ts";
import { createLimitedAws, type LimitedAws } from "../../../../lib/local/limited-aws.ts";
import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import type { Chance } from "../engine/chance.ts";

/** Limits that strike in a run with few calls. */
const SCARCE: { readonly [limit in keyof AwsLimits]?: readonly number[] } = {
  writeUnits: [1, 2, 4, 8],
  readUnits: [1, 2, 3],
  queueCalls: [1, 2],
  groupCalls: [1],
  lookAhead: [3, 6],
  putEvents: [1, 2, 3],
  getParameter: [1],
};

/**
 * Each limit that often strikes a function. Only operators read the list index, and a write to it mostly reaches the
 * limit of the due index first. The poller queries the due index too seldom for its reads to be throttled.
 */
export const LIMITS = [
  "item writes",
  "item reads",
  "due index writes",
  "sends",
  "sends of a group",
  "receives",
  "look-ahead",
  "entries",
  "secrets",
];

/** The limits of a run: mostly those of AWS, and sometimes so small that they strike. */
export const limitsOf = (chance: Chance): AwsLimits => {
  const isScarce = chance.happens("throttled", 0.15);
  const isHighThroughputFifo = !isScarce || chance.happens("high throughput", 0.4);
  const limits = { ...awsLimitsOf(isHighThroughputFifo) };
  for (const limit of isScarce ? (Object.keys(SCARCE) as (keyof typeof SCARCE)[]) : []) {
    if (!chance.happens(`scarce ${limit}`, 0.5)) continue;
    Object.assign(limits, { [limit]: chance.pick(`how scarce ${limit}`, SCARCE[limit] ?? []) });
  }
  return limits;
};

/** AWS's limits while a run is under way. */
export interface RunLimits {
  readonly aws: LimitedAws;
  /** Limits that struck, and when, epoch ms. */
  readonly struck: { readonly limit: string; readonly at: number }[];
  note(limit: string): void;
  /** Sets the rates to those of AWS. The look-ahead stays. */
  relax(): void;
}

export const createRunLimits = (
  given: AwsLimits = awsLimitsOf(),
  clock: Pick<Clock, "now">,
): RunLimits => {
  const limits = { ...given };
  const struck: { readonly limit: string; readonly at: number }[] = [];
  const note = (limit: string): void => {
    struck.push({ limit, at: clock.now() });
  };
  return {
    aws: createLimitedAws(limits, clock, note),
    struck,
    note,
    relax: () => {
      Object.assign(limits, awsLimitsOf(given.deduplicatesByGroup));
    },
  };
};
