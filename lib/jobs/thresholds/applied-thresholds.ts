import * as z from "zod";
import { STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import type { AppliedChange } from "./apply.ts";
import type { ThresholdConfig } from "./config.ts";
import {
  type ActualThreshold,
  type Change,
  targetKey,
  targetOf,
  targetOfChange,
} from "./threshold.ts";

/** Decimal text of a limit; null: the threshold does not exist. */
const limitSchema = z.string().nullable();

/** Changes of a threshold that may still take effect: not sent yet, or sent without a clear answer. */
const openSchema = z.object({
  /** Limits that these changes set. */
  limits: z.array(limitSchema),
  /** Instant after which none of them takes effect, epoch ms. */
  until: z.number(),
});

/** Thresholds applied where they cannot be listed. Without `limit`, the actual limit is unknown. */
export const appliedSchema = z.array(
  z.object({
    name: z.enum(STORAGE_EVENT_NAMES),
    storage_name: z.string().optional(),
    bucket_name: z.string().optional(),
    limit: limitSchema.optional(),
    open: openSchema.optional(),
  }),
);

export type Applied = z.output<typeof appliedSchema>;
type Open = z.output<typeof openSchema>;

/**
 * Maximum size of the wanted thresholds. A ledger item of 400 kB holds them, those still to be deleted
 * (which are no larger), and an event of 100 kB.
 */
const MAX_BYTES = 145_000;

/** Size of a value in a record, bytes. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Remembered thresholds that a sync with this config compares. Without `prune` these are the wanted ones,
 * and as many former ones as there is room for: a forgotten threshold stays at the provider, because
 * only remembered ones are pruned.
 * @returns undefined when there is no room for all wanted thresholds
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

/** Remembered thresholds in the form of listed ones, without the deleted ones. */
export const actualOf = (applied: Applied): readonly ActualThreshold[] =>
  applied.flatMap(({ limit, ...each }) =>
    limit === null ? [] : [{ ...targetOf(each), ...(limit !== undefined && { limit }) }],
  );

/** Drops the open changes when they are too large together. The next sync makes them again. */
const fitting = (applied: Applied): Applied =>
  bytesOf(applied) > 2 * MAX_BYTES
    ? applied.map((each) => (each.open ? targetOf(each) : each))
    : applied;

/*
 * How changes are recorded where thresholds cannot be listed. A change is recorded before it is sent. From
 * then on its target has no known limit, and each plan contains the change until it is known to be done.
 * A request without a clear answer may take effect after newer changes. Within its ambiguity window,
 * only the limit that the request itself sets is certain.
 */

const byTarget = (applied: Applied) => new Map(applied.map((each) => [targetKey(each), each]));

const limitAfter = (change: Change): string | null =>
  change.action === "delete" ? null : change.threshold.limit;

const mayStillAct = (open: Open | undefined, now: number): open is Open =>
  open !== undefined && open.until > now;

const withLimit = (open: Open | undefined, limit: string | null): Open["limits"] => [
  ...new Set([...(open?.limits ?? []), limit]),
];

/**
 * Records the changes that a sync is about to send.
 * @param now epoch ms
 * @param until epoch ms; none of them takes effect later
 */
export const withIntents = (
  applied: Applied,
  changes: readonly Change[],
  { now, until }: { readonly now: number; readonly until: number },
): Applied => {
  const isOver = ({ limit, open }: Applied[number]): boolean =>
    limit === null && !mayStillAct(open, now);
  const entries = byTarget(applied.filter((each) => !isOver(each)));
  for (const change of changes) {
    const target = targetOfChange(change);
    const before = entries.get(targetKey(target))?.open;
    const open = mayStillAct(before, now) ? before : undefined;
    const limits = withLimit(open, limitAfter(change));
    const last = Math.max(until, open?.until ?? 0);
    entries.set(targetKey(target), { ...target, open: { limits, until: last } });
  }
  return fitting([...entries.values()]);
};

/** Times that bound a sync's requests. */
export interface Moment {
  /** Start of the sync, epoch ms; it sent all its changes after that. */
  readonly startedAt: number;
  /** End of the sync, epoch ms. */
  readonly now: number;
  /** A request that got no clear answer takes effect within this time, or never. */
  readonly ambiguityWindowMs: number;
}

const openAfter = (
  { change, isOpen }: AppliedChange,
  before: Open | undefined,
  { startedAt, now, ambiguityWindowMs }: Moment,
): Open | undefined => {
  const open = mayStillAct(before, startedAt) ? before : undefined;
  if (!isOpen) return open;
  const until = Math.max(now + ambiguityWindowMs, open?.until ?? 0);
  return { limits: withLimit(open, limitAfter(change)), until };
};

/** Entry after a change. Its limit is unknown if an open request may still set another one. */
const entryOf = (
  change: Change,
  open: Open | undefined,
  isMade: boolean,
): Applied[number] | undefined => {
  const limit = limitAfter(change);
  const isCertain = isMade && (open?.limits.every((other) => other === limit) ?? true);
  if (isCertain && limit === null && !open) return undefined;
  return { ...targetOfChange(change), ...(isCertain && { limit }), ...(open && { open }) };
};

type Remember = (
  each: AppliedChange,
  before: Applied[number] | undefined,
) => Applied[number] | undefined;

const remembering = (
  applied: Applied,
  results: readonly AppliedChange[],
  remember: Remember,
): Applied => {
  const entries = byTarget(applied);
  for (const each of results) {
    const key = targetKey(targetOfChange(each.change));
    const entry = remember(each, entries.get(key));
    if (entry) entries.set(key, entry);
    else entries.delete(key);
  }
  return fitting([...entries.values()]);
};

/**
 * Records the outcomes of changes. Earlier ones without a recorded outcome stay open for as long as their sync may live:
 * its process may be suspended, and send a last request when it wakes.
 * @param before entries before the sync recorded its changes
 */
export const withOutcomes = (
  applied: Applied,
  results: readonly AppliedChange[],
  before: Applied,
  moment: Moment,
): Applied => {
  const entries = byTarget(before);
  return remembering(applied, results, (each) => {
    const entry = entries.get(targetKey(targetOfChange(each.change)));
    if (each.outcome !== "done" && !each.isOpen) return entry;
    return entryOf(each.change, openAfter(each, entry?.open, moment), each.outcome === "done");
  });
};

/**
 * Records the changes of a sync that another sync has overtaken. They may have taken effect after the
 * changes that the other sync knows to be done.
 */
export const withDoubts = (
  applied: Applied,
  results: readonly AppliedChange[],
  moment: Moment,
): Applied =>
  remembering(applied, results, (each, entry) => {
    if (each.outcome !== "done" && !each.isOpen) return entry;
    const isKnown = (entry ? entry.limit : null) === limitAfter(each.change);
    // The changes of this sync were open until its end, which has come.
    const endsAt = moment.now + moment.ambiguityWindowMs;
    const open = entry?.open && { ...entry.open, until: Math.min(entry.open.until, endsAt) };
    return entryOf(each.change, openAfter(each, open, moment), isKnown);
  });

/** Whether the limit of a change's target is unknown. */
export const isInDoubt = (applied: Applied, { change }: AppliedChange): boolean => {
  const entry = byTarget(applied).get(targetKey(targetOfChange(change)));
  return entry !== undefined && entry.limit === undefined;
};
