import * as z from "zod";
import { outboxEvent, outboxKind, outboxSchema } from "./outbox.ts";

/** Windows begin at whole seconds of the clock of whoever asks. */
const WINDOW_MS = 1_000;
/** So often one request finds out whether a refused key is taken again, whoever sends it. */
const PROBE_EVERY_MS = 30_000;

const budgetSchema = z.object({
  account: z.string(),
  /** Start of the latest window in which anything was granted; it never goes back. */
  windowStartedAt: z.int(),
  /** Requests granted in that window. */
  granted: z.int(),
  /** Before this time the provider wants no requests. */
  blockedUntil: z.int(),
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
  key: { state: "accepted", since: 0 },
  outbox: [],
});

interface Ask {
  readonly now: number;
  readonly wanted: number;
  readonly perWindow: number;
  /** Whether these requests carry a key that was read after the refusal of another. */
  readonly hasNewKey: boolean;
}

export type Grant =
  /** Requests that may leave before `expiresAt` (epoch ms), and not a moment later. */
  | { readonly kind: "granted"; readonly tokens: number; readonly expiresAt: number }
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

/** A clock that is behind counts in the window that others are in already. */
const inWindow = (budget: Budget, now: number): Budget =>
  windowAt(now) > budget.windowStartedAt
    ? { ...budget, windowStartedAt: windowAt(now), granted: 0 }
    : budget;

/** Why nothing may leave although there may be room in the window. */
const holdOf = ({ blockedUntil, key }: Budget, { now, hasNewKey }: Ask): Grant | undefined => {
  if (now < blockedUntil) return { kind: "wait", until: blockedUntil, because: "paused" };
  return key.state === "refused" && !hasNewKey && now < key.nextProbeAt
    ? { kind: "wait", until: key.nextProbeAt, because: "key-refused" }
    : undefined;
};

/**
 * Grants at most half of what is left of a window, so that no process takes all of it, and at least
 * one request while any is left. Tokens die at the end of the asker's own window. While the key is
 * refused, one request is granted every 30 s, and those with a new key.
 * @returns the very budget that was given when nothing is granted
 */
export const grantTokens = (budget: Budget, ask: Ask): GrantStep => {
  const hold = holdOf(budget, ask);
  if (hold) return { budget, grant: hold };
  const { now, wanted, perWindow, hasNewKey } = ask;
  const current = inWindow(budget, now);
  const left = perWindow - current.granted;
  if (left < 1) {
    const until = current.windowStartedAt + WINDOW_MS;
    return { budget, grant: { kind: "wait", until, because: "budget-spent" } };
  }
  const { key } = current;
  const isProbe = key.state === "refused" && !hasNewKey;
  const tokens = isProbe ? 1 : Math.min(wanted, Math.max(1, Math.floor(left / 2)));
  return {
    budget: {
      ...current,
      granted: current.granted + tokens,
      key: isProbe ? { ...key, nextProbeAt: now + PROBE_EVERY_MS } : key,
    },
    grant: { kind: "granted", tokens, expiresAt: windowAt(now) + WINDOW_MS },
  };
};

/** Grants nothing before `until`; a longer block stays. */
export const blockBudget = (budget: Budget, until: number): Budget =>
  until > budget.blockedUntil ? { ...budget, blockedUntil: until } : budget;

interface KeyAnswer {
  readonly now: number;
  /** When the request left; one that left before the latest change says nothing about now. */
  readonly sentAt: number;
}

const isoText = (at: number): string => new Date(at).toISOString();

/** What led to the events of an episode is the refusal; nobody sent a request for it. */
const episodeOf = (account: string, refusedSince: number) => {
  const episode = `accounts/${account}/key-refused/${isoText(refusedSince)}`;
  const subject = `accounts/${account}`;
  return { account, subject, correlationId: episode, causationId: episode };
};

/** Notes that the provider refuses the key, and tells of it once. */
export const refuseKey = (budget: Budget, { now, sentAt }: KeyAnswer): Budget => {
  const { account, key } = budget;
  if (key.state === "refused" || sentAt < key.since) return budget;
  // Clocks differ, and no two episodes may have one name.
  const since = Math.max(now, key.since + 1);
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
    outbox: [...budget.outbox, event],
  };
};

/** Notes that the provider takes the key again, and tells of it once. */
export const acceptKey = (budget: Budget, { now, sentAt }: KeyAnswer): Budget => {
  const { account, key } = budget;
  if (key.state === "accepted" || sentAt <= key.since) return budget;
  const since = Math.max(now, key.since + 1);
  const event = outboxEvent({
    ...episodeOf(account, key.since),
    detailType: "AccountKeyAccepted",
    identity: [account, String(key.since)],
    time: since,
    data: { since: isoText(since), refusedSince: isoText(key.since) },
  });
  return { ...budget, key: { state: "accepted", since }, outbox: [...budget.outbox, event] };
};
