import { type Applied, fitting } from "./applied-thresholds.ts";
import type { AppliedChange } from "./apply.ts";
import type { Change } from "./plan.ts";
import { targetKey, targetOf } from "./threshold.ts";

/*
 * How changes are remembered where thresholds cannot be listed. A change is noted before it is made:
 * from then on its target is there without a limit, and the next plan makes the change again, until it
 * is known to be done. A request without a clear answer may take effect later, after changes that came
 * after it: as long as it may, only what it makes itself is certain.
 */

type Open = NonNullable<Applied[number]["open"]>;

const byTarget = (applied: Applied) => new Map(applied.map((each) => [targetKey(each), each]));

const targetOfChange = (change: Change) =>
  targetOf(change.action === "delete" ? change.from : change.threshold);

const limitAfter = (change: Change): string | null =>
  change.action === "delete" ? null : change.threshold.limit;

const mayStillAct = (open: Open | undefined, now: number): open is Open =>
  open !== undefined && open.until > now;

const withLimit = (open: Open | undefined, limit: string | null): Open["limits"] => [
  ...new Set([...(open?.limits ?? []), limit]),
];

/**
 * Notes that these changes are about to be made.
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

/** The end of a sync. */
export interface Moment {
  /** When it began, epoch ms: its changes were made some time since. */
  readonly startedAt: number;
  /** Epoch ms. */
  readonly now: number;
  /** A request that got no clear answer takes effect within this time, or never. */
  readonly settleMs: number;
}

const openAfter = (
  { change, isOpen }: AppliedChange,
  before: Open | undefined,
  { startedAt, now, settleMs }: Moment,
): Open | undefined => {
  const until = now + settleMs;
  // Whoever noted them for longer sends nothing any more: there is one sync at a time.
  const open = mayStillAct(before, startedAt)
    ? { limits: before.limits, until: Math.min(before.until, until) }
    : undefined;
  return isOpen ? { limits: withLimit(open, limitAfter(change)), until } : open;
};

/** With the limit that it was given, unless something may still make another one of it. */
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
 * Notes what has become of changes.
 * @param before what was remembered before they were about to be made
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
 * Notes the changes of a sync that was overtaken: they may have come after what another one knows to
 * be done.
 */
export const withDoubts = (
  applied: Applied,
  results: readonly AppliedChange[],
  moment: Moment,
): Applied =>
  remembering(applied, results, (each, entry) => {
    if (each.outcome !== "done" && !each.isOpen) return entry;
    const isKnown = (entry ? entry.limit : null) === limitAfter(each.change);
    return entryOf(each.change, openAfter(each, entry?.open, moment), isKnown);
  });

/** Whether it is not known after all what a change has made of its target. */
export const isInDoubt = (applied: Applied, { change }: AppliedChange): boolean => {
  const entry = byTarget(applied).get(targetKey(targetOfChange(change)));
  return entry !== undefined && entry.limit === undefined;
};
