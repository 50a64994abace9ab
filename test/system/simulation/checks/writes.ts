import * as z from "zod";
import { parseWireJson } from "../../../../lib/contract/json.ts";
import { commands } from "../../../../lib/engine/command.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import { priceItems } from "../../../../lib/jobs/prices/price.ts";
import { thresholdsLease } from "../../../../lib/jobs/thresholds/sync.ts";
import { thresholdSyncs } from "../../../../lib/jobs/thresholds/threshold-sync.ts";
import { MAX_REQUEST_AGE_MS } from "../../../../lib/ledger/retention.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Caller } from "../cloud/observed-ledger.ts";
import { BLIND } from "../plan/actors.ts";
import type { ConfigVersion } from "../plan/configs.ts";

/** Largest error of an operator's clock, ms. */
const MAX_SKEW_MS = 5 * 60_000;

const leaseSchema = z.object({ by: z.string(), until: z.number() });
const sendingSchema = z.object({ state: z.object({ lease: leaseSchema }) });
const attemptedSchema = z.object({ attemptCount: z.int().min(1) });
const UNKNOWN: ReadonlySet<string> = new Set(["ambiguous", "lost"]);
const uncertainSchema = z.object({
  uncertain: z.object({ lastSentAt: z.number() }),
  attempts: z.array(z.object({ disposition: z.string().optional() })),
  state: z.object({ lease: leaseSchema.optional() }),
});
const cancelledSchema = z.object({
  state: z.object({ status: z.literal("cancelled"), settled: z.literal(true) }),
});
const openTaskSchema = z.object({
  command: z.string(),
  state: z.object({ status: z.literal("open") }),
});
const appliedSchema = z.object({
  applied: z.array(z.object({ open: z.unknown().optional() })).optional(),
});
const rejectedSchema = z.object({ rejections: z.array(z.object({ rejectedAt: z.number() })) });
const priceSchema = z.object({ lastRun: z.object({ bucket: z.string() }) });

type Sent = { readonly method: string; readonly body: string };

/** A write with the text of the rule that it breaks; undefined when the rule holds. */
type Rule = (
  write: {
    readonly item: LedgerItem;
    readonly previous: LedgerItem | undefined;
    readonly by: Caller;
  },
  cloud: Cloud,
) => string | undefined;

const isOf = ({ kind }: { readonly kind: string }, { key }: LedgerItem): boolean =>
  key.startsWith(`${kind}#`);

/** The lease of a job or of an attempt. */
const leaseIn = (item: LedgerItem | undefined) =>
  item?.key.startsWith("lease#")
    ? leaseSchema.parse(item.value)
    : item && isOf(commands, item)
      ? sendingSchema.safeParse(item.value).data?.state.lease
      : undefined;

/** A runner takes a lease of another one only after its end. */
const leaseStays: Rule = ({ item, previous, by }) => {
  const [held, next] = [leaseIn(previous), leaseIn(item)];
  if (!held || !next) return undefined;
  // Renewing its own lease is a job's right; an attempt has one lease.
  const isTaken = next.by !== held.by || (isOf(commands, item) && next.until !== held.until);
  return isTaken && held.until > by.clock.now() && !by.hasJumped()
    ? `${by.name} took the lease of ${held.by} before its end`
    : undefined;
};

/** What a repeated request could ask for again stays in the ledger for as long as the request is accepted. */
const isKept: Rule = ({ item: { key, value, expiresAt, dueAt }, by }) => {
  if (expiresAt === undefined) return undefined;
  if (key.startsWith(`${commands.kind}#`) && dueAt !== undefined)
    return `${key} expires although it is due`;
  // The 30 days of a rejection begin with it. Its record under a second id may be written later.
  const rejected = rejectedSchema.safeParse(value).data?.rejections.at(-1);
  return expiresAt < (rejected?.rejectedAt ?? by.clock.now()) + MAX_REQUEST_AGE_MS - MAX_SKEW_MS
    ? `${key} expires before a request for it is too old`
    : undefined;
};

const isAnnounced: Rule = ({ item, previous }, { bus }) => {
  const isFirst =
    isOf(commands, item) &&
    attemptedSchema.safeParse(item.value).success &&
    !attemptedSchema.safeParse(previous?.value).success;
  if (!isFirst) return undefined;
  const isPublished = bus
    .seen()
    .some(
      ({ detailType, metadata }) =>
        detailType === "CommandAccepted" &&
        item.key === `${commands.kind}#${metadata.sender}/${metadata.commandId}`,
    );
  return isPublished ? undefined : `${item.key} is sent before its acceptance is published`;
};

/** An operator who cancels a command that follows a task ends the checks of that task. */
const isUnfollowed: Rule = ({ item }, { ledger }) => {
  if (!isOf(commands, item) || !cancelledSchema.safeParse(item.value).success) return undefined;
  const isOpen = [...ledger.items.values()].some((other) => {
    const task = isOf(tasks, other) ? openTaskSchema.safeParse(other.value).data : undefined;
    return task && item.key === `${commands.kind}#${task.command}`;
  });
  return isOpen ? `${item.key} was cancelled, but its task is still checked` : undefined;
};

const isNewer: Rule = ({ item, previous }) => {
  if (!isOf(priceItems, item) || !previous) return undefined;
  const [before, after] = [previous, item].map(
    ({ value }) => priceSchema.parse(value).lastRun.bucket,
  );
  return (after ?? "") < (before ?? "") ? `${item.key}: ${after} replaced ${before}` : undefined;
};

/** The ambiguity window begins no earlier than the last request that may have taken effect left. */
const isWindowWhole: Rule = ({ item, by }, { chronicle, plan, faults }) => {
  if (!isOf(commands, item) || !("uncertain" in item.value)) return undefined;
  const value = uncertainSchema.safeParse(item.value).data;
  // A suspended machine may send after its lease.
  const isSure =
    !plan.isSkewed &&
    !by.hasJumped() &&
    !faults.struck.some(({ kind }) => /frozen|clock jump/.test(kind));
  if (!value || value.state.lease || !isSure) return undefined;
  const key = item.key.slice(`${commands.kind}#`.length);
  const sent = chronicle.departures.findLast(({ command }) => command === key);
  const { lastSentAt } = value.uncertain;
  const isUncertain = UNKNOWN.has(value.attempts.at(-1)?.disposition ?? "");
  return sent && isUncertain && lastSentAt < sent.at
    ? `${item.key}: the ambiguity window begins ${sent.at - lastSentAt} ms before the request left`
    : undefined;
};

const RULES: readonly (readonly [invariant: number, rule: Rule])[] = [
  [0, leaseStays],
  [0, isKept],
  [2, isWindowWhole],
  [1, isAnnounced],
  [4, isUnfollowed],
  [1, isNewer],
];

const changeSchema = z.object({ bucket_name: z.string(), bytes: z.coerce.string().optional() });

/** Whether a version of the config wants the change. */
const isWantedBy = ({ wanted }: ConfigVersion, { method, body }: Sent): boolean => {
  if (!wanted) return false;
  const { bucket_name, bytes } = changeSchema.parse(parseWireJson(body));
  const found = wanted.find((each) => each.bucket_name === bucket_name);
  return method === "DELETE" ? !found : found?.bytes === bytes;
};

/**
 * Only the holder of the lease changes thresholds, as a config wants that was the newest when it took the lease, or a
 * newer one. Where the provider lists none, the change is recorded before it is sent.
 */
const watchSyncs = (cloud: Cloud): void => {
  const { provider, ledger, faults, chronicle, jobAccount, configs, versions } = cloud;
  const leaseKey = `lease#${thresholdsLease(jobAccount)}`;
  let holder: string | undefined;
  let newest: string | undefined;
  ledger.onWrite((item, previous, by) => {
    if (item.key !== leaseKey || leaseIn(item)?.by === leaseIn(previous)?.by) return;
    holder = by.name;
    newest = configs.newest()?.version;
  });
  /** Without a plan of versions only the version that the machine has read is known. */
  const isByCurrent = (name: string, sent: Sent): boolean =>
    versions.length === 0
      ? [newest, configs.newest()?.version].includes(configs.lastReadBy(name))
      : versions.some((one) => one.number >= Number(newest) && isWantedBy(one, sent));

  const broken = function* (name: string, now: number, sent: Sent): Generator<string> {
    const isHeld = holder === name && (leaseIn(ledger.items.get(leaseKey))?.until ?? 0) > now;
    if (!isHeld) yield "without the lease";
    if (!isByCurrent(name, sent)) yield "by a config that was replaced before";
    const { applied } = appliedSchema.parse(
      ledger.items.get(`${thresholdSyncs.kind}#${jobAccount}`)?.value,
    );
    if (jobAccount === BLIND && !applied?.some(({ open }) => open))
      yield "that it has not recorded";
  };
  provider.onRequest(({ caller, isJobMutation, ...sent }) => {
    if (!isJobMutation || caller.hasJumped() || faults.struck.some(({ kind }) => kind === "frozen"))
      return;
    for (const how of broken(caller.name, caller.clock.now(), sent)) {
      chronicle.violations.push({ invariant: 7, text: `${caller.name} changes thresholds ${how}` });
    }
  });
};

/** Rules of single writes: of leases, of retention, and of the order of writes. */
export const watchWrites = (cloud: Cloud): void => {
  cloud.ledger.onWrite((item, previous, by) => {
    for (const [invariant, rule] of RULES) {
      const text = rule({ item, previous, by }, cloud);
      if (text !== undefined) cloud.chronicle.violations.push({ invariant, text });
    }
  });
  watchSyncs(cloud);
};
