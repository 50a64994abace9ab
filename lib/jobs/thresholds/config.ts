import { createHash } from "node:crypto";
import { Document } from "yaml";
import * as z from "zod";
import { type ConfigReading, readConfig, rememberingLast } from "../../config/config-file.ts";
import type { PlacedProblem } from "../../contract/problem.ts";
import { STORAGE_EVENT_LIMITS, STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import { exactUint64, int64, oneOf, UINT64_RULE, unlimitedText } from "../../contract/values.ts";
import { BYTE_UNITS, formatByteSize } from "./byte-size.ts";
import { type ActualThreshold, type Threshold, targetKey, targetOf } from "./threshold.ts";

const UNIT_NAMES = [...BYTE_UNITS.keys()];

/** Pattern of a size in the JSON Schema, for editors. */
const BYTE_SIZE_PATTERN = `^\\d+(\\.\\d+)? ?(${UNIT_NAMES.join("|")})?$`;
const BYTE_SIZE_RULE = `a size such as 500 GiB (${UNIT_NAMES.join(", ")}) or a whole number of bytes, from 0 to 18446744073709551615`;

const SIZE = /^(\d{1,20})(?:\.(\d{1,20}))? ?([A-Za-z]+)?$/;

/**
 * Parses a size such as `1.5 GiB` into its exact bytes, as decimal text.
 * @returns undefined unless the text is a size of whole bytes within 64 bits
 */
export const parseByteSize = (text: string): string | undefined => {
  const [, whole = "", fraction = "", unit = "B"] = SIZE.exec(text) ?? [];
  const factor = BYTE_UNITS.get(unit);
  if (whole === "" || factor === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * factor;
  if (scaled % scale !== 0n) return undefined;
  const bytes = exactUint64(scaled / scale);
  return bytes === undefined ? undefined : String(bytes);
};

/** Content of a valid thresholds file. */
export interface ThresholdConfig {
  /** Client that has the thresholds; undefined: the API key's own. */
  readonly clientId: number | bigint | undefined;
  /** Whether a sync deletes thresholds that are not listed. */
  readonly prune: boolean;
  readonly thresholds: readonly Threshold[];
  /** SHA-256 of the normalised content, in hex: equal if and only if two files want the same. */
  readonly digest: string;
}

const jsonNumber = { type: "integer", minimum: 0 } as const;
const decimalText = { type: "string", pattern: "^\\d+$" } as const;

/** Schema of a limit: a number or text in the file, decimal text after parsing. */
const limit = (rule: string, parse: (text: string) => string | undefined) =>
  z.union([z.string(), z.number(), z.bigint()], { error: rule }).transform((value, context) => {
    const exact = typeof value === "string" ? parse(value) : exactUint64(value);
    if (exact !== undefined) return String(exact);
    context.issues.push({ code: "custom", message: rule, input: value });
    return z.NEVER;
  });

const parseCount = (value: string): string | undefined => exactUint64(value)?.toString();

const targetName = unlimitedText().min(1).optional();

const thresholdSchema = z.strictObject({
  name: oneOf(STORAGE_EVENT_NAMES).describe("Quantity that the threshold watches"),
  storage_name: targetName.describe("Storage to watch. Default: all storages"),
  bucket_name: targetName.describe("Bucket to watch. Default: all buckets"),
  bytes: limit(BYTE_SIZE_RULE, parseByteSize)
    .optional()
    .meta({
      description:
        "Limit of `reaching_used_space` and `reaching_used_traffic`, required there: a size such as `500 GiB` (B, kB to EB, KiB to EiB) or a number of bytes, from 0 to 18446744073709551615",
      anyOf: [jsonNumber, { type: "string", pattern: BYTE_SIZE_PATTERN }],
    }),
  count: limit(UINT64_RULE, parseCount)
    .optional()
    .meta({
      description:
        "Limit of `reaching_files_quantity` and `reaching_used_requests`, required there: from 0 to 18446744073709551615",
      anyOf: [jsonNumber, decimalText],
    }),
});

/** Schema of a thresholds file. */
export const thresholdConfigSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Path or URL of this JSON Schema, for editors"),
    client_id: int64()
      .optional()
      .describe("Client that has the thresholds. Default: the client of the API key"),
    prune: z.boolean().optional().meta({
      description: "Whether a sync deletes thresholds that the file does not list",
      default: false,
    }),
    thresholds: z
      .array(thresholdSchema)
      .describe(
        "Wanted thresholds, at most one for each combination of `name`, `storage_name` and `bucket_name`",
      ),
  })
  .describe("Storage notification thresholds that Skyhook keeps at the provider");

/** The parts of the content that the cross-field rules check. */
const looseSchema = z.looseObject({ thresholds: z.array(z.unknown()) });
const looseLimit = z.looseObject({
  name: z.enum(STORAGE_EVENT_NAMES),
  bytes: z.unknown().optional(),
  count: z.unknown().optional(),
});
const looseTarget = z.looseObject({
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
});

const limitProblem = (
  entry: z.output<typeof looseLimit>,
): { readonly field: "bytes" | "count"; readonly rule: string } | undefined => {
  const own = STORAGE_EVENT_LIMITS[entry.name];
  const other = own === "bytes" ? "count" : "bytes";
  const isGiven = (field: "bytes" | "count"): boolean => entry[field] !== undefined;
  if (isGiven(other)) return { field: other, rule: `not allowed with ${entry.name}; use ${own}` };
  return isGiven(own) ? undefined : { field: own, rule: "required" };
};

/** Requires the limit that belongs to each name, and one threshold for each target. */
const crossFieldRules = (content: unknown): readonly PlacedProblem[] => {
  const problems: PlacedProblem[] = [];
  const firstOf = new Map<string, number>();
  const entries = looseSchema.safeParse(content).data?.thresholds ?? [];
  for (const [index, entry] of entries.entries()) {
    const path = ["thresholds", index];
    const limited = looseLimit.safeParse(entry).data;
    const problem = limited && limitProblem(limited);
    if (problem) problems.push({ path: [...path, problem.field], rule: problem.rule });
    const target = looseTarget.safeParse(entry).data;
    const first = target && firstOf.get(targetKey(target));
    if (first !== undefined)
      problems.push({
        path,
        rule: `duplicate of thresholds.${first}: same name, storage_name and bucket_name`,
      });
    else if (target) firstOf.set(targetKey(target), index);
  }
  return problems;
};

const digestOf = (content: unknown): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex");

const toConfig = (read: z.output<typeof thresholdConfigSchema>): ThresholdConfig => {
  const { client_id: clientId, prune = false } = read;
  const thresholds = read.thresholds.map(({ bytes, count, ...target }) => ({
    ...targetOf(target),
    // The cross-field rules require exactly one of the two.
    limit: bytes ?? count ?? "",
  }));
  const wanted = thresholds.map((each) => [targetKey(each), each.limit]).toSorted();
  const digest = digestOf([clientId === undefined ? null : String(clientId), prune, wanted]);
  return { clientId, prune, thresholds, digest };
};

/** Reads a thresholds file, YAML or JSON; reports every mistake in it at once, with its line. */
export const readThresholdConfig = rememberingLast(
  (source: string): ConfigReading<ThresholdConfig> => {
    const read = readConfig(thresholdConfigSchema, source, crossFieldRules);
    return read.kind === "valid" ? { kind: "valid", value: toConfig(read.value) } : read;
  },
);

/** Limit under its field: bytes in the largest exact unit, a count as a number. */
const writtenLimit = ({ name }: ActualThreshold, limit: string) => {
  if (STORAGE_EVENT_LIMITS[name] === "count") return { count: BigInt(limit) };
  const size = formatByteSize(limit);
  return { bytes: size === limit ? BigInt(limit) : size };
};

/**
 * Writes a thresholds file that wants exactly the actual thresholds. A threshold without a limit cannot be
 * written: it is left out and named in a comment. It stays as it is, because `prune` is false.
 * @param comments first lines of the file, without `#`
 */
export const writeThresholdConfig = (
  actual: readonly ActualThreshold[],
  comments: readonly string[],
): string => {
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
    ...comments.map((line) => ` ${line}`),
    ...withoutLimit.map(
      ({ name, storage_name, bucket_name }) =>
        ` left out, because it has no limit: ${JSON.stringify({ name, storage_name, bucket_name })}`,
    ),
  ].join("\n");
  return document.toString();
};
