import * as z from "zod";
import { parseWireJson } from "../../../../lib/contract/json.ts";
import { type Command, commands } from "../../../../lib/engine/command.ts";
import { pollerLease } from "../../../../lib/engine/poller/poll.ts";
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
const UNKNOWN: ReadonlySet<string> = new Set(["ambiguous", "lost"]);
const openTaskSchema = z.object({
  command: z.string(),
  state: z.object({ status: z.literal("open") }),
});
const appliedSchema = z.object({
  applied: z.array(z.object({ open: z.unknown().optional() })).optional(),
});
const rejectedSchema = z.object({ rejections: z.array(z.object({ rejectedAt: z.number() })) });
const priceSchema = z.object({ lastRun: z.object({ bucket: z.string() }) });

/** Start of the keys of the leases of all shards. */
const POLLER_LEASE = `lease#${pollerLease(0)}`;

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

/** Commands by their items, because several rules read each one. */
const read = new WeakMap<LedgerItem, Command>();

const commandIn = (item: LedgerItem | undefined): Command | undefined => {
  if (!item || !isOf(commands, item)) return undefined;
  const command = read.get(item) ?? commands.fromItem(item);
  read.set(item, command);
  return command;
};

/** The lease of a job or of an attempt. */
const leaseIn = (item: LedgerItem | undefined) => {
  if (item?.key.startsWith("lease#")) return leaseSchema.parse(item.value);
  const state = commandIn(item)?.state;
  return state && "lease" in state ? state.lease : undefined;
};

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

/** A poller renews its lease before the end. One that was given up has no end. Only a fault makes a renewal late. */
const isRenewedEarly: Rule = ({ item, previous, by }, { chronicle }) => {
  const [held, next] = [leaseIn(previous), leaseIn(item)];
  const isRenewed = item.key.startsWith(POLLER_LEASE) && held?.by === next?.by && next?.until !== 0;
  if (isRenewed && held && held.until !== 0 && held.until <= by.clock.now())
    chronicle.ifCalm.push({ invariant: 4, text: `${by.name} let its lease end` });
  return undefined;
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
    (commandIn(item)?.attemptCount ?? 0) > 0 && (commandIn(previous)?.attemptCount ?? 0) === 0;
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
  const state = commandIn(item)?.state;
  if (state?.status !== "cancelled" || !state.settled) return undefined;
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
  const command = commandIn(item);
  // A suspended machine may send after its lease.
  const isSure =
    !plan.isSkewed &&
    !by.hasJumped() &&
    !faults.struck.some(({ kind }) => /frozen|clock jump/.test(kind));
  if (!command?.uncertain || leaseIn(item) || !isSure) return undefined;
  const key = item.key.slice(`${commands.kind}#`.length);
  const sent = chronicle.departures.findLast(({ command }) => command === key);
  const { lastSentAt } = command.uncertain;
  const isUncertain = UNKNOWN.has(command.attempts.at(-1)?.disposition ?? "");
  return sent && isUncertain && lastSentAt < sent.at
    ? `${item.key}: the ambiguity window begins ${sent.at - lastSentAt} ms before the request left`
    : undefined;
};

const RULES: readonly (readonly [invariant: number, rule: Rule])[] = [
  [0, leaseStays],
  [4, isRenewedEarly],
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
