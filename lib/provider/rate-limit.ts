import * as z from "zod";
import { type OutboxEvent, outboxEvent, outboxKind, outboxSchema } from "../ledger/outbox.ts";

/** Length of a window. Windows begin at whole seconds of the clock of the acquiring process. */
const WINDOW_MS = 1_000;
/** While the key is refused, the circuit breaker lets one half-open probe through per interval. */
const PROBE_INTERVAL_MS = 30_000;
/**
 * Clocks differ by far less. A time further ahead comes from a clock that was wrong, and is ignored:
 * otherwise the account would send nothing until then.
 */
const MAX_AHEAD_MS = 60_000;
/** A longer pause is published as `AccountPaused`, because commands wait for its end. */
const LONG_PAUSE_MS = 60_000;
/** Bounds the ledger item (400 kB) while the bus is down. The newest events describe the current state. */
const MAX_UNPUBLISHED = 20;

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

export type RateLimit = z.output<typeof rateLimitSchema>;

/** Records of the rate limit and key state of an account, shared by all processes. They never expire. */
export const rateLimits = outboxKind({
  kind: "budget",
  schema: rateLimitSchema,
  expiresAt: () => undefined,
});

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

interface GrantRequest {
  readonly now: number;
  /** Number of permits that the caller can use. */
  readonly wanted: number;
  /** Smallest number of use to the caller, at most `perWindow`; a half-open probe is always one. */
  readonly atLeast: number;
  readonly perWindow: number;
  /** Whether the requests carry a key that was read after another one was refused. */
  readonly hasNewKey: boolean;
  /** Id of a half-open probe that was granted to the caller and expired unused. */
  readonly expiredProbe: number | undefined;
}

/** Granted permits, for requests that leave before `expiresAt` (epoch ms). */
export interface Granted {
  readonly kind: "granted";
  readonly permits: number;
  readonly expiresAt: number;
  /** Id of the half-open probe, if the permit is one. */
  readonly probe: number | undefined;
}

/** No permit: the time of the next try (epoch ms), and the reason. */
export interface Wait {
  readonly kind: "wait";
  readonly until: number;
  readonly because: "budget-spent" | "key-refused" | "paused";
}

interface GrantStep {
  readonly rateLimit: RateLimit;
  readonly grant: Granted | Wait;
}

const windowAt = (now: number): number => Math.floor(now / WINDOW_MS) * WINDOW_MS;

const isFarAhead = (at: number, now: number): boolean => at > now + MAX_AHEAD_MS;

/** Returns the current window. A process with a slow clock uses the newer window of other processes. */
const inWindow = (rateLimit: RateLimit, now: number): RateLimit =>
  windowAt(now) > rateLimit.windowStartedAt || isFarAhead(rateLimit.windowStartedAt, now)
    ? { ...rateLimit, windowStartedAt: windowAt(now), granted: 0 }
    : rateLimit;

const blockEndOf = ({ blockedUntil, blockedAt }: RateLimit, now: number): number =>
  isFarAhead(blockedAt, now) ? 0 : blockedUntil;

type RefusedKey = Extract<RateLimit["key"], { state: "refused" }>;

/** Whether a probe may leave. Its owner gets an expired probe again; other processes wait for the next. */
const mayProbe = ({ nextProbeAt }: RefusedKey, { now, expiredProbe }: GrantRequest): boolean =>
  now >= nextProbeAt ||
  nextProbeAt === expiredProbe ||
  isFarAhead(nextProbeAt, now + PROBE_INTERVAL_MS);

/** Returns the wait for a pause or a refused key; undefined if only the rate limit applies. */
const blockOf = (rateLimit: RateLimit, request: GrantRequest): Wait | undefined => {
  const blockedUntil = blockEndOf(rateLimit, request.now);
  if (request.now < blockedUntil) return { kind: "wait", until: blockedUntil, because: "paused" };
  const { key } = rateLimit;
  return key.state === "refused" && !request.hasNewKey && !mayProbe(key, request)
    ? { kind: "wait", until: key.nextProbeAt, because: "key-refused" }
    : undefined;
};

/**
 * Grants permits of the current window: at most half of the remaining ones, so that one process does not
 * take all, but at least `atLeast`, or none. Permits expire at the end of the caller's own window. While
 * the key is refused, grants one half-open probe every 30 s, and permits to requests with a new key.
 * @returns the same rate limit object when no permit is granted
 */
export const grantPermits = (rateLimit: RateLimit, request: GrantRequest): GrantStep => {
  const block = blockOf(rateLimit, request);
  if (block) return { rateLimit, grant: block };
  const { now, perWindow, hasNewKey } = request;
  const current = inWindow(rateLimit, now);
  const { key } = current;
  const probing =
    key.state === "refused" && !hasNewKey
      ? { ...key, nextProbeAt: now + PROBE_INTERVAL_MS }
      : undefined;
  const { wanted, atLeast } = probing ? { wanted: 1, atLeast: 1 } : request;
  const left = perWindow - current.granted;
  if (left < atLeast) {
    const until = current.windowStartedAt + WINDOW_MS;
    return { rateLimit, grant: { kind: "wait", until, because: "budget-spent" } };
  }
  const permits = Math.min(wanted, Math.max(atLeast, Math.floor(left / 2)));
  const expiresAt = windowAt(now) + WINDOW_MS;
  return {
    rateLimit: { ...current, granted: current.granted + permits, key: probing ?? key },
    grant: { kind: "granted", permits, expiresAt, probe: probing?.nextProbeAt },
  };
};

const appended = (rateLimit: RateLimit, event: OutboxEvent): RateLimit["outbox"] =>
  [...rateLimit.outbox, event].slice(-MAX_UNPUBLISHED);

const isoText = (at: number): string => new Date(at).toISOString();

/** Fields of the events of one episode. No request caused them, so the episode is their cause. */
const episodeOf = (account: string, kind: "paused" | "key-refused", since: number) => {
  const subject = `accounts/${account}`;
  const episode = `${subject}/${kind}/${isoText(since)}`;
  return {
    ...{ account, subject, correlationId: episode, causationId: episode },
    identity: [account, String(since)],
  };
};

/** Publishes a pause of more than a minute once, however often it is extended. */
const reportPause = (rateLimit: RateLimit, now: number): RateLimit => {
  const { account, blockedUntil } = rateLimit;
  if (now < rateLimit.reportedUntil) return { ...rateLimit, reportedUntil: blockedUntil };
  if (blockedUntil - now <= LONG_PAUSE_MS) return rateLimit;
  const event = outboxEvent({
    ...episodeOf(account, "paused", now),
    detailType: "AccountPaused",
    time: now,
    data: { since: isoText(now), until: isoText(blockedUntil) },
  });
  return { ...rateLimit, reportedUntil: blockedUntil, outbox: appended(rateLimit, event) };
};

/** Pauses all requests of the account until `until`. A longer pause stays. */
export const pauseRequests = (
  rateLimit: RateLimit,
  { now, until }: { readonly now: number; readonly until: number },
): RateLimit => {
  if (until <= blockEndOf(rateLimit, now)) return rateLimit;
  // A pause set by a clock that was far ahead is not extended: a new one begins.
  const reportedUntil = isFarAhead(rateLimit.blockedAt, now) ? 0 : rateLimit.reportedUntil;
  return reportPause({ ...rateLimit, blockedUntil: until, blockedAt: now, reportedUntil }, now);
};

/** Returns the end of the current pause (epoch ms); undefined without a pause. */
export const pauseEndOf = (rateLimit: RateLimit, now: number): number | undefined => {
  const until = blockEndOf(rateLimit, now);
  return until > now ? until : undefined;
};

/** Ends the pause that the provider asked for. */
export const endPause = (rateLimit: RateLimit): RateLimit =>
  rateLimit.blockedUntil === 0 ? rateLimit : { ...rateLimit, blockedUntil: 0, reportedUntil: 0 };

interface KeyResponse {
  readonly now: number;
  /** Time at which the request left. Responses to requests from before the latest change are ignored. */
  readonly sentAt: number;
}

/** Start of an episode: later than the one before, because clocks differ and each needs its own id. */
const startAfter = (since: number, now: number): number =>
  isFarAhead(since, now) ? now : Math.max(now, since + 1);

/** Opens the circuit breaker after the provider refused the key. Publishes the change once. */
export const refuseKey = (rateLimit: RateLimit, { now, sentAt }: KeyResponse): RateLimit => {
  const { account, key } = rateLimit;
  if (key.state === "refused" || (sentAt < key.since && !isFarAhead(key.since, now))) {
    return rateLimit;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, "key-refused", since),
    detailType: "AccountKeyRefused",
    time: since,
    data: { since: isoText(since) },
  });
  return {
    ...rateLimit,
    key: { state: "refused", since, nextProbeAt: now + PROBE_INTERVAL_MS },
    outbox: appended(rateLimit, event),
  };
};

/** Closes the circuit breaker after the provider accepted the key. Publishes the change once. */
export const acceptKey = (rateLimit: RateLimit, { now, sentAt }: KeyResponse): RateLimit => {
  const { account, key } = rateLimit;
  if (key.state === "accepted" || (sentAt <= key.since && !isFarAhead(key.since, now))) {
    return rateLimit;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, "key-refused", key.since),
    detailType: "AccountKeyAccepted",
    time: since,
    data: { since: isoText(since), refusedSince: isoText(key.since) },
  });
  return { ...rateLimit, key: { state: "accepted", since }, outbox: appended(rateLimit, event) };
};
