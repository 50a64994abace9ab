import * as z from "zod";
import { type OutboxEvent, outboxEvent, outboxKind, outboxSchema } from "../ledger/outbox.ts";

/** Windows begin at whole seconds of the clock of whoever asks. */
const WINDOW_MS = 1_000;
/** So often one request finds out whether a refused key is taken again, whoever sends it. */
const PROBE_EVERY_MS = 30_000;
/**
 * Clocks differ by far less. What lies further ahead was written by a clock that was wrong once, and
 * counts as not there: the account would stand still until that time comes.
 */
const MAX_AHEAD_MS = 60_000;
/** A longer pause is published and logged: commands wait for it. */
const LONG_PAUSE_MS = 60_000;
/**
 * Events of a key that comes and goes while the bus is away; an item has 400 kB. The newest are kept,
 * for they tell how things are, and the latest is always among them.
 */
const MAX_UNPUBLISHED = 20;

const budgetSchema = z.object({
  account: z.string(),
  /** Start of the latest window in which anything was granted; it never goes back. */
  windowStartedAt: z.int(),
  /** Requests granted in that window. */
  granted: z.int(),
  /** Before this time the provider wants no requests. */
  blockedUntil: z.int(),
  /** When that was noted; items from before it was say nothing of it. */
  blockedAt: z.int().default(0),
  /** End of the long pause that an event has reported; a pause that begins before is the same one. */
  reportedUntil: z.int().default(0),
  key: z.discriminatedUnion("state", [
    z.object({ state: z.literal("accepted"), since: z.int() }),
    z.object({ state: z.literal("refused"), since: z.int(), nextProbeAt: z.int() }),
  ]),
  outbox: outboxSchema,
});

type Budget = z.output<typeof budgetSchema>;

/** How many requests an account may send, shared by everybody who sends any. It never expires. */
export const budgets = outboxKind({
  kind: "budget",
  schema: budgetSchema,
  expiresAt: () => undefined,
});

export const newBudget = (account: string): Budget => ({
  account,
  windowStartedAt: 0,
  granted: 0,
  blockedUntil: 0,
  blockedAt: 0,
  reportedUntil: 0,
  key: { state: "accepted", since: 0 },
  outbox: [],
});

interface Ask {
  readonly now: number;
  readonly wanted: number;
  /** Fewer are of no use to who asks, unless it is a probe; at most `perWindow`. */
  readonly atLeast: number;
  readonly perWindow: number;
  /** Whether these requests carry a key that was read after the refusal of another. */
  readonly hasNewKey: boolean;
  /** The name of a probe that was granted to who asks, and whose time went by unused. */
  readonly lostProbe: number | undefined;
}

export type Grant =
  /** Requests that may leave before `expiresAt` (epoch ms), and not a moment later. */
  | {
      readonly kind: "granted";
      readonly tokens: number;
      readonly expiresAt: number;
      /** Of a probe, its name. */
      readonly probe: number | undefined;
    }
  | {
      readonly kind: "wait";
      readonly until: number;
      readonly because: "budget-spent" | "key-refused" | "paused";
    };

interface GrantStep {
  readonly budget: Budget;
  readonly grant: Grant;
}

const windowAt = (now: number): number => Math.floor(now / WINDOW_MS) * WINDOW_MS;

const isFarAhead = (at: number, now: number): boolean => at > now + MAX_AHEAD_MS;

/** A clock that is a little behind counts in the window that others are in already. */
const inWindow = (budget: Budget, now: number): Budget =>
  windowAt(now) > budget.windowStartedAt || isFarAhead(budget.windowStartedAt, now)
    ? { ...budget, windowStartedAt: windowAt(now), granted: 0 }
    : budget;

const blockEndOf = ({ blockedUntil, blockedAt }: Budget, now: number): number =>
  isFarAhead(blockedAt, now) ? 0 : blockedUntil;

type RefusedKey = Extract<Budget["key"], { state: "refused" }>;

/** A lost probe is granted anew to who has it: nobody else may send one in its stead. */
const mayProbe = ({ nextProbeAt }: RefusedKey, { now, lostProbe }: Ask): boolean =>
  now >= nextProbeAt || nextProbeAt === lostProbe || isFarAhead(nextProbeAt, now + PROBE_EVERY_MS);

/** Why nothing may leave although there may be room in the window. */
const holdOf = (budget: Budget, ask: Ask): Grant | undefined => {
  const blockedUntil = blockEndOf(budget, ask.now);
  if (ask.now < blockedUntil) return { kind: "wait", until: blockedUntil, because: "paused" };
  const { key } = budget;
  return key.state === "refused" && !ask.hasNewKey && !mayProbe(key, ask)
    ? { kind: "wait", until: key.nextProbeAt, because: "key-refused" }
    : undefined;
};

/**
 * Grants at most half of what is left of a window, so that no process takes all of it without need,
 * and as many as are needed at least, or none. Tokens die at the end of the asker's own window. While
 * the key is refused, one request is granted every 30 s, and those with a new key.
 * @returns the very budget that was given when nothing is granted
 */
export const grantTokens = (budget: Budget, ask: Ask): GrantStep => {
  const hold = holdOf(budget, ask);
  if (hold) return { budget, grant: hold };
  const { now, perWindow, hasNewKey } = ask;
  const current = inWindow(budget, now);
  const { key } = current;
  const probing =
    key.state === "refused" && !hasNewKey
      ? { ...key, nextProbeAt: now + PROBE_EVERY_MS }
      : undefined;
  const { wanted, atLeast } = probing ? { wanted: 1, atLeast: 1 } : ask;
  const left = perWindow - current.granted;
  if (left < atLeast) {
    const until = current.windowStartedAt + WINDOW_MS;
    return { budget, grant: { kind: "wait", until, because: "budget-spent" } };
  }
  const tokens = Math.min(wanted, Math.max(atLeast, Math.floor(left / 2)));
  return {
    budget: {
      ...current,
      granted: current.granted + tokens,
      key: probing ?? key,
    },
    grant: {
      kind: "granted",
      tokens,
      expiresAt: windowAt(now) + WINDOW_MS,
      probe: probing?.nextProbeAt,
    },
  };
};

const unpublished = (budget: Budget, event: OutboxEvent): Budget["outbox"] =>
  [...budget.outbox, event].slice(-MAX_UNPUBLISHED);

const isoText = (at: number): string => new Date(at).toISOString();

/** Reports a pause that is longer than a minute, once however often it is extended. */
const reportPause = (budget: Budget, now: number): Budget => {
  const { account, blockedUntil } = budget;
  if (now < budget.reportedUntil) return { ...budget, reportedUntil: blockedUntil };
  if (blockedUntil - now <= LONG_PAUSE_MS) return budget;
  const pause = `accounts/${account}/paused/${isoText(now)}`;
  const event = outboxEvent({
    ...{ account, subject: `accounts/${account}`, correlationId: pause, causationId: pause },
    detailType: "AccountPaused",
    identity: [account, String(now)],
    time: now,
    data: { since: isoText(now), until: isoText(blockedUntil) },
  });
  return { ...budget, reportedUntil: blockedUntil, outbox: unpublished(budget, event) };
};

/** Grants nothing before `until`; a longer block stays. */
export const blockBudget = (
  budget: Budget,
  { now, until }: { readonly now: number; readonly until: number },
): Budget => {
  if (until <= blockEndOf(budget, now)) return budget;
  // What a clock that was far ahead has noted says nothing of now.
  const reportedUntil = isFarAhead(budget.blockedAt, now) ? 0 : budget.reportedUntil;
  return reportPause({ ...budget, blockedUntil: until, blockedAt: now, reportedUntil }, now);
};

/** Until when the provider wants no requests; undefined when it does not say so now. */
export const pauseEndOf = (budget: Budget, now: number): number | undefined => {
  const until = blockEndOf(budget, now);
  return until > now ? until : undefined;
};

/** Ends the pause that the provider has asked for. */
export const endPause = (budget: Budget): Budget =>
  budget.blockedUntil === 0 ? budget : { ...budget, blockedUntil: 0, reportedUntil: 0 };

interface KeyAnswer {
  readonly now: number;
  /** When the request left; one that left before the latest change says nothing about now. */
  readonly sentAt: number;
}

/** Clocks differ, and no two episodes may have one name. */
const startAfter = (since: number, now: number): number =>
  isFarAhead(since, now) ? now : Math.max(now, since + 1);

/** What led to the events of an episode is the refusal; nobody sent a request for it. */
const episodeOf = (account: string, refusedSince: number) => {
  const episode = `accounts/${account}/key-refused/${isoText(refusedSince)}`;
  const subject = `accounts/${account}`;
  return { account, subject, correlationId: episode, causationId: episode };
};

/** Notes that the provider refuses the key, and tells of it once. */
export const refuseKey = (budget: Budget, { now, sentAt }: KeyAnswer): Budget => {
  const { account, key } = budget;
  if (key.state === "refused" || (sentAt < key.since && !isFarAhead(key.since, now))) {
    return budget;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, since),
    detailType: "AccountKeyRefused",
    identity: [account, String(since)],
    time: since,
    data: { since: isoText(since) },
  });
  return {
    ...budget,
    key: { state: "refused", since, nextProbeAt: now + PROBE_EVERY_MS },
    outbox: unpublished(budget, event),
  };
};

/** Notes that the provider takes the key again, and tells of it once. */
export const acceptKey = (budget: Budget, { now, sentAt }: KeyAnswer): Budget => {
  const { account, key } = budget;
  if (key.state === "accepted" || (sentAt <= key.since && !isFarAhead(key.since, now))) {
    return budget;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, key.since),
    detailType: "AccountKeyAccepted",
    identity: [account, String(key.since)],
    time: since,
    data: { since: isoText(since), refusedSince: isoText(key.since) },
  });
  return { ...budget, key: { state: "accepted", since }, outbox: unpublished(budget, event) };
};
