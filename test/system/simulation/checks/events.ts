import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { isHourFull } from "./rejections.ts";

/** No record keeps the time of their first publication, so a repeated one has its own. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "ThresholdsRejected",
  "ThresholdsSynced",
  "WatchlistRejected",
]);

/** Ids of events that were published again with other metadata. A rejection without a record keeps no time. */
const changed = (cloud: Cloud): readonly string[] => {
  const known = new Map<string, string>();
  return cloud.bus.seen().flatMap(({ id, detailType, metadata }) => {
    const text = JSON.stringify(metadata);
    const first = known.get(id) ?? text;
    known.set(id, first);
    if (first === text || UNRECORDED.has(detailType)) return [];
    const isUnrecorded = detailType === "CommandRejected" && isHourFull(cloud, metadata.sender);
    return !isUnrecorded
      ? [`${detailType} ${id} was published again as ${text}, not ${first}`]
      : [];
  });
};

/**
 * Invariant 5: no event reports a state that is not durable. The recording bus has compared each
 * publication with the ledger and with the catalogue. Also, the service had no internal error.
 */
export const checkEvents = async (cloud: Cloud): Promise<readonly Violation[]> => [
  ...[...cloud.bus.broken(), ...changed(cloud)].map((text) => ({ invariant: 5, text })),
  ...cloud.provider.faults.map((text) => ({ invariant: 0, text })),
];
