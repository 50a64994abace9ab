import * as z from "zod";
import { STORAGE_EVENT_LIMITS, STORAGE_EVENT_NAMES } from "../contract/storage-events.ts";
import { isoText } from "../events/event.ts";
import { actualOf, rememberedFor } from "../jobs/thresholds/applied-thresholds.ts";
import { readThresholdConfig, type ThresholdConfig } from "../jobs/thresholds/config.ts";
import { driftSchema } from "../jobs/thresholds/drift-history.ts";
import {
  type ActualThreshold,
  listThresholds,
  planChanges,
  type Target,
  targetKey,
  targetOf,
} from "../jobs/thresholds/threshold.ts";
import {
  lastSyncSchema,
  type ThresholdSync,
  thresholdSyncKey,
  thresholdSyncs,
} from "../jobs/thresholds/threshold-sync.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Account } from "../provider/accounts.ts";
import { ProviderError } from "../provider/provider-error.ts";

const limit = z.string().nullable();

/** One threshold, as wanted and as it is. Limits are decimal text; null: there is none. */
const thresholdRowSchema = z.object({
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  unit: z.enum(["bytes", "count"]),
  wanted: limit,
  /** Absent: not known. */
  actual: limit.optional(),
  /**
   * What the next sync does; `keep`: the file does not list it and does not prune; `unknown`: the actual
   * thresholds could not be read. An update changes the limit.
   */
  action: z.enum(["create", "update", "delete", "none", "keep", "unknown"]),
});

const configSchema = z.discriminatedUnion("kind", [
  /** The run has no thresholds file. */
  z.object({ kind: z.literal("not-configured") }),
  z.object({ kind: z.literal("missing"), source: z.string() }),
  z.object({ kind: z.literal("unreadable"), source: z.string(), problem: z.string() }),
  z.object({
    kind: z.literal("invalid"),
    source: z.string(),
    problems: z.array(z.object({ path: z.string(), rule: z.string(), line: z.int().optional() })),
  }),
  z.object({
    kind: z.literal("valid"),
    source: z.string(),
    prune: z.boolean(),
    /** Client that has the thresholds; absent: the API key's own. */
    clientId: z.string().optional(),
    /** Whether the last complete sync had this content. */
    isSynced: z.boolean(),
  }),
]);

/** Wanted and actual thresholds side by side, with the plan. Instants are ISO 8601. */
export const thresholdsViewSchema = z.object({
  account: z.string(),
  config: configSchema,
  /** `list`: the provider's list, read for this view; `ledger`: what earlier syncs applied; `none`: not known. */
  actualFrom: z.enum(["list", "ledger", "none"]),
  /** Why the actual thresholds are not known. */
  actualProblem: z.string().optional(),
  /** Those that need a change first; empty without a valid file. */
  rows: z.array(thresholdRowSchema),
  /** Null: no sync is recorded. A sync that finds nothing to do writes nothing. */
  lastSync: lastSyncSchema.extend({ at: z.string() }).nullable(),
  /** The last drifts, the newest first. */
  drifts: z.array(driftSchema.extend({ at: z.string() })),
});

export type ThresholdsView = z.output<typeof thresholdsViewSchema>;
export type ThresholdRow = z.output<typeof thresholdRowSchema>;
type ConfigView = ThresholdsView["config"];

export interface ThresholdsViewDeps {
  readonly ledger: Ledger;
  /** The thresholds file; undefined: the run has none. */
  readonly source: ConfigSource | undefined;
  /** Name of the jobs' account. */
  readonly account: string;
  /** The account at the provider; undefined where it cannot be reached from here. */
  readonly provider: Pick<Account, "client" | "canList"> | undefined;
}

type Actual =
  | { readonly from: "list" | "ledger"; readonly thresholds: readonly ActualThreshold[] }
  | { readonly from: "none"; readonly problem: string };

const NOT_HERE =
  "the provider's list is read only where Skyhook has the API key, which is not here";

/** Reads the thresholds that a sync would compare with. Changes nothing; the list takes one permit. */
const readActual = async (
  { provider }: ThresholdsViewDeps,
  config: ThresholdConfig,
  record: ThresholdSync | undefined,
): Promise<Actual> => {
  // Without the account's settings, only the record can say whether a sync lists.
  const canList = provider ? provider.canList : record?.applied === undefined;
  if (!canList || config.clientId !== undefined) {
    const remembered = rememberedFor(config, record?.applied) ?? record?.applied ?? [];
    return { from: "ledger", thresholds: actualOf(remembered) };
  }
  if (!provider) return { from: "none", problem: NOT_HERE };
  try {
    return { from: "list", thresholds: await listThresholds(provider.client) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { from: "none", problem: error.message };
  }
};

type Limits = Pick<ThresholdRow, "wanted" | "actual" | "action">;

const rowOf = (target: Target, limits: Limits): ThresholdRow => ({
  ...targetOf(target),
  unit: STORAGE_EVENT_LIMITS[target.name],
  ...limits,
});

/** A limit of the record that an unfinished change leaves unknown is absent. */
const limitOf = (actual: ActualThreshold, from: Actual["from"]) =>
  actual.limit !== undefined ? { actual: actual.limit } : from === "list" ? { actual: null } : {};

/** The plan of a sync as rows: changes first, then what stays. */
const rowsOf = (
  { thresholds: wanted, prune }: ThresholdConfig,
  actual: Actual,
): readonly ThresholdRow[] => {
  if (actual.from === "none") {
    return wanted.map((each) => rowOf(each, { wanted: each.limit, action: "unknown" }));
  }
  const { changes } = planChanges(wanted, actual.thresholds, prune);
  const changed = new Set<string>();
  const shown = new Set<ActualThreshold>();
  const planned = changes.map((change) => {
    if (change.action !== "create") shown.add(change.from);
    if (change.action === "delete") {
      const { action, from } = change;
      return rowOf(from, { wanted: null, ...limitOf(from, actual.from), action });
    }
    const { action, threshold } = change;
    changed.add(targetKey(threshold));
    const before =
      change.action === "update" ? limitOf(change.from, actual.from) : { actual: null };
    return rowOf(threshold, { wanted: threshold.limit, ...before, action });
  });
  const equal = new Map(
    actual.thresholds.map((each) => [`${targetKey(each)} ${each.limit}`, each]),
  );
  const unchanged = wanted
    .filter((each) => !changed.has(targetKey(each)))
    .map((each) => {
      const match = equal.get(`${targetKey(each)} ${each.limit}`);
      if (match) shown.add(match);
      return rowOf(each, { wanted: each.limit, actual: each.limit, action: "none" });
    });
  const kept = actual.thresholds
    .filter((each) => !shown.has(each))
    .map((each) => rowOf(each, { wanted: null, ...limitOf(each, actual.from), action: "keep" }));
  return [...planned, ...unchanged, ...kept];
};

const historyOf = (record: ThresholdSync | undefined) => ({
  lastSync: record?.lastSync ? { ...record.lastSync, at: isoText(record.lastSync.at) } : null,
  drifts: (record?.drifts ?? [])
    .map(({ at, ...drift }) => ({ at: isoText(at), ...drift }))
    .toReversed(),
});

/**
 * Compares the thresholds file with the actual thresholds as the next sync would. Changes no threshold and
 * publishes nothing.
 * @throws Error when the ledger cannot be read
 */
export const viewThresholds = async (deps: ThresholdsViewDeps): Promise<ThresholdsView> => {
  const { ledger, source, account } = deps;
  const recordOf = async (clientId: ThresholdConfig["clientId"]) =>
    (await thresholdSyncs.read(ledger, thresholdSyncKey(account, clientId)))?.value;
  const without = async (config: ConfigView): Promise<ThresholdsView> => {
    const history = historyOf(await recordOf(undefined));
    return { account, config, actualFrom: "none", rows: [], ...history };
  };
  if (!source) return without({ kind: "not-configured" });
  const object = await source.read().catch((error: Error) => error);
  if (object instanceof Error) {
    return without({ kind: "unreadable", source: source.name, problem: object.message });
  }
  if (!object) return without({ kind: "missing", source: source.name });
  const read = readThresholdConfig(object.text);
  if (read.kind === "invalid") {
    const problems = read.problems.map(({ path, rule, line }) => ({
      path,
      rule,
      ...(line !== undefined && { line }),
    }));
    return without({ kind: "invalid", source: source.name, problems });
  }
  const { clientId, prune, digest } = read.value;
  const record = await recordOf(clientId);
  const actual = await readActual(deps, read.value, record);
  return {
    account,
    config: {
      kind: "valid",
      source: source.name,
      prune,
      ...(clientId !== undefined && { clientId: String(clientId) }),
      isSynced: record?.syncedDigest === digest,
    },
    actualFrom: actual.from,
    ...(actual.from === "none" && { actualProblem: actual.problem }),
    rows: [...rowsOf(read.value, actual)],
    ...historyOf(record),
  };
};
