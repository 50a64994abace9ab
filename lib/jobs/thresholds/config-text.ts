import { Document } from "yaml";
import { STORAGE_EVENT_LIMITS } from "../../contract/storage-events.ts";
import { formatByteSize } from "./byte-size.ts";
import type { ActualThreshold } from "./plan.ts";
import { targetKey } from "./threshold.ts";

/** Bytes in the largest unit that is exact, a count as the number it is. */
const writtenLimit = ({ name }: ActualThreshold, limit: string) => {
  if (STORAGE_EVENT_LIMITS[name] === "count") return { count: BigInt(limit) };
  const size = formatByteSize(limit);
  return { bytes: size === limit ? BigInt(limit) : size };
};

/**
 * The actual thresholds as a config file that wants just them. What a config cannot say, an event
 * without a limit, is left out and named in a comment; without `prune` it stays as it is.
 */
export const writeThresholdConfig = (actual: readonly ActualThreshold[], from: string): string => {
  const byTarget = new Map(actual.toReversed().map((each) => [targetKey(each), each]));
  const distinct = actual.filter((each) => byTarget.get(targetKey(each)) === each);
  const withoutLimit = distinct.filter(({ limit }) => limit === undefined);
  const document = new Document({
    prune: false,
    thresholds: distinct.flatMap((each) => {
      const { name, storage_name, bucket_name, limit } = each;
      if (limit === undefined) return [];
      return [
        {
          name,
          ...(storage_name && { storage_name }),
          ...(bucket_name && { bucket_name }),
          ...writtenLimit(each, limit),
        },
      ];
    }),
  });
  document.commentBefore = [
    " yaml-language-server: $schema=lib/jobs/thresholds/thresholds.schema.json",
    ` Notification thresholds as they are at ${from}`,
    ...withoutLimit.map(
      ({ name, storage_name, bucket_name }) =>
        ` left out, it has no limit: ${JSON.stringify({ name, storage_name, bucket_name })}`,
    ),
  ].join("\n");
  return document.toString();
};
