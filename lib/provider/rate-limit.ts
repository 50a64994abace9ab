import * as z from "zod";
import { isoText } from "../events/event.ts";
import { type OutboxEvent, outboxEvent, outboxKind, outboxSchema } from "../ledger/outbox.ts";
import { isFarAhead } from "../ledger/record.ts";
import type { EventBus } from "../platform/ports/bus.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";

const rateLimitSchema = z.object({
  account: z.string(),
  /** Start of the latest window with granted permits; never decreases. */
  windowStartedAt: z.int(),
  /** Permits granted in that window. */
  granted: z.int(),
  /** End of the pause that the provider asked for. */
  blockedUntil: z.int(),
  /** Time at which `blockedUntil` was set; older items lack it. */
  blockedAt: z.int().default(0),
  /** End of the latest published pause; a pause that begins earlier extends it and is not published. */
  reportedUntil: z.int().default(0),
  key: z.discriminatedUnion("state", [
    z.object({ state: z.literal("accepted"), since: z.int() }),
    z.object({ state: z.literal("refused"), since: z.int(), nextProbeAt: z.int() }),
  ]),
  outbox: outboxSchema,
});

/**
 * The rate limit of an account, and what replies said about the account. `rate-limiter.ts` grants permits of it;
 * `api-key.ts` has the transitions of the key.
 */
export type RateLimit = z.output<typeof rateLimitSchema>;

/** Records of the rate limit and key state of an account, shared by all processes. They never expire. */
export const rateLimits = outboxKind({ kind: "budget", schema: rateLimitSchema });

export const newRateLimit = (account: string): RateLimit => ({
  account,
  windowStartedAt: 0,
  granted: 0,
  blockedUntil: 0,
  blockedAt: 0,
  reportedUntil: 0,
  key: { state: "accepted", since: 0 },
  outbox: [],
});

/** A longer pause is published as `AccountPaused`, because commands wait for its end. */
const LONG_PAUSE_MS = 60_000;
/** Bounds the ledger item (400 kB) while the bus is down. The newest events describe the current state. */
const MAX_UNPUBLISHED = 20;

/**
 * Fields of the events of one episode: a pause, or the time for which a key is refused. No request caused them, so the
 * episode is their cause.
 * @param since start of the episode, epoch ms
 */
export const episodeOf = (account: string, kind: "paused" | "key-refused", since: number) => {
  const subject = `accounts/${account}`;
  const episode = `${subject}/${kind}/${isoText(since)}`;
  return {
    ...{ account, subject, correlationId: episode, causationId: episode },
    identity: [account, String(since)],
  };
};

/** Adds an event to those that are to be published. */
export const withEvent = (rateLimit: RateLimit, event: OutboxEvent): RateLimit => ({
  ...rateLimit,
  outbox: [...rateLimit.outbox, event].slice(-MAX_UNPUBLISHED),
});

/** Ends the pause that the provider asked for. */
export const endPause = (rateLimit: RateLimit): RateLimit =>
  rateLimit.blockedUntil === 0 ? rateLimit : { ...rateLimit, blockedUntil: 0, reportedUntil: 0 };

/**
 * Pauses all requests of the account until `until`. A longer pause stays. Publishes a pause of more than a minute
 * once, however often it is extended.
 */
export const pauseRequests = (
  rateLimit: RateLimit,
  { now, until }: { readonly now: number; readonly until: number },
): RateLimit => {
  // A pause set by a clock that was far ahead is not extended: a new one begins.
  const before = isFarAhead(rateLimit.blockedAt, now) ? endPause(rateLimit) : rateLimit;
  if (until <= before.blockedUntil) return rateLimit;
  const paused = { ...before, blockedUntil: until, blockedAt: now };
  if (now < before.reportedUntil) return { ...paused, reportedUntil: until };
  if (until - now <= LONG_PAUSE_MS) return paused;
  const event = outboxEvent({
    ...episodeOf(rateLimit.account, "paused", now),
    detailType: "AccountPaused",
    time: now,
    data: { since: isoText(now), until: isoText(until) },
  });
  return withEvent({ ...paused, reportedUntil: until }, event);
};

export interface AccountStatePorts {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly log: Log;
}

/**
 * Records what a reply says about its account, for all processes, and publishes the change. Never rejects, because an
 * unreachable ledger must not fail a call that has its reply.
 * @returns whether the change has an event; undefined if the ledger does not hold it
 */
export const changeAccountState = async (
  ports: AccountStatePorts,
  account: string,
  change: (rateLimit: RateLimit) => RateLimit,
): Promise<{ readonly hasEvent: boolean } | undefined> => {
  let hasEvent = false;
  try {
    const { value } = await rateLimits.change(ports.ledger, account, (stored) => {
      const current = stored ?? newRateLimit(account);
      const next = change(current);
      hasEvent = next.outbox !== current.outbox;
      return next;
    });
    if (value.outbox.length > 0) await rateLimits.publishOrLeave(ports, account);
    return { hasEvent };
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error);
    const text = "account state not updated; the next response will retry it";
    ports.log.warn(text, { account, errorMessage });
    return undefined;
  }
};
