import { createHash } from "node:crypto";
import * as z from "zod";
import { type ConfigReading, readConfig } from "../../config/config-file.ts";
import type { PlacedProblem } from "../../contract/problem.ts";
import { STORAGE_EVENT_LIMITS, STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import { exactUint64, int64, oneOf, UINT64_RULE, unlimitedText } from "../../contract/values.ts";
import { BYTE_SIZE_PATTERN, BYTE_SIZE_RULE, parseByteSize } from "./byte-size.ts";
import { type Threshold, targetKey, targetOf } from "./threshold.ts";

/** What is asked for of one account's thresholds. */
export interface ThresholdConfig {
  /** Whose thresholds they are; absent: the API key's own client. */
  readonly clientId: number | bigint | undefined;
  /** Whether thresholds that are not listed are deleted. */
  readonly prune: boolean;
  readonly thresholds: readonly Threshold[];
  /** The same for two configs exactly if they want the same. */
  readonly digest: string;
}

const jsonNumber = { type: "integer", minimum: 0 } as const;
const decimalText = { type: "string", pattern: "^\\d+$" } as const;

/** Reads a number as it stands in the file, or text; answers decimal text. */
const limit = (rule: string, parse: (text: string) => string | undefined) =>
  z.union([z.string(), z.number(), z.bigint()], { error: rule }).transform((value, context) => {
    const exact = typeof value === "string" ? parse(value) : exactUint64(value);
    if (exact !== undefined) return String(exact);
    context.issues.push({ code: "custom", message: rule, input: value });
    return z.NEVER;
  });

const parseCount = (value: string): string | undefined => exactUint64(value)?.toString();

const targetName = unlimitedText.min(1).optional();

const thresholdSchema = z.strictObject({
  name: oneOf(STORAGE_EVENT_NAMES).describe("What is watched"),
  storage_name: targetName.describe("Storage that is watched; all of them when absent"),
  bucket_name: targetName.describe("Bucket that is watched; all of them when absent"),
  bytes: limit(BYTE_SIZE_RULE, parseByteSize)
    .optional()
    .meta({
      description: "Limit of reaching_used_space and reaching_used_traffic, such as 500 GiB",
      anyOf: [jsonNumber, { type: "string", pattern: BYTE_SIZE_PATTERN }],
    }),
  count: limit(UINT64_RULE, parseCount)
    .optional()
    .meta({
      description: "Limit of reaching_files_quantity and reaching_used_requests",
      anyOf: [jsonNumber, decimalText],
    }),
});

/** What people may write. */
export const thresholdConfigSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Where an editor finds this schema"),
    client_id: int64
      .optional()
      .describe("Client whose thresholds these are; the API key's own when absent"),
    prune: z
      .boolean()
      .optional()
      .describe("Whether thresholds that are not listed here are deleted (default: false)"),
    thresholds: z
      .array(thresholdSchema)
      .describe("Every threshold that is wanted; one for each target"),
  })
  .describe("Notification thresholds that Skyhook keeps at the provider");

/** As much of the content as the rules between fields look at. */
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
  if (isGiven(other)) return { field: other, rule: `${entry.name} is limited by ${own}` };
  return isGiven(own) ? undefined : { field: own, rule: "required" };
};

/** Each name has its own limit, and each target one threshold. */
const rulesBetween = (content: unknown): readonly PlacedProblem[] => {
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
      problems.push({ path, rule: `the same target as thresholds.${first}` });
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
    // The rules have seen to it that exactly one is there.
    limit: bytes ?? count ?? "",
  }));
  const wanted = thresholds.map((each) => [targetKey(each), each.limit]).toSorted();
  const digest = digestOf([clientId === undefined ? null : String(clientId), prune, wanted]);
  return { clientId, prune, thresholds, digest };
};

/** Reads a thresholds file; every mistake in it is told at once. */
export const readThresholdConfig = (source: string): ConfigReading<ThresholdConfig> => {
  const read = readConfig(thresholdConfigSchema, source, rulesBetween);
  return read.kind === "valid" ? { kind: "valid", value: toConfig(read.value) } : read;
};
