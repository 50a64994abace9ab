import { isoText } from "../events/event.ts";
import { isFarAhead } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { AccountSettings } from "./accounts-config.ts";
import { type BreakerRequest, breakerFor } from "./api-key.ts";
import {
  type AccountStatePorts,
  changeAccountState,
  newRateLimit,
  pauseRequests,
  type RateLimit,
  rateLimits,
} from "./rate-limit.ts";

/** Length of a window. Windows begin at whole seconds of the clock of the acquiring process. */
const WINDOW_MS = 1_000;
/** Pause of a process that got fewer permits than it wanted, so that other processes come first. */
const COURTESY_MS = 50;
/** Longest random delay of processes that wait for the same window: the ledger takes one write at a time. */
const SPREAD_MS = 100;
/** Longest random pause after the first lost write of a grant; each further one may be twice as long. */
const LOST_WRITE_PAUSE_MS = 10;
/** After so many lost writes of a grant, requests wait for this time as if there were no permit. */
const MAX_LOST_WRITES = 7;
const CONTENDED_WAIT_MS = 500;

interface GrantRequest extends BreakerRequest {
  /** Number of permits that the caller can use. */
  readonly wanted: number;
  /** Smallest number of use to the caller, at most `perWindow`; a half-open probe is always one. */
  readonly atLeast: number;
  readonly perWindow: number;
}

/** Granted permits, for requests that leave before `expiresAt` (epoch ms). */
interface Granted {
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

const waitUntil = (until: number, because: Wait["because"]): Wait => ({
  kind: "wait",
  until,
  because,
});

const windowAt = (now: number): number => Math.floor(now / WINDOW_MS) * WINDOW_MS;

/** Returns the current window. A process with a slow clock uses the newer window of other processes. */
const inWindow = (rateLimit: RateLimit, now: number): RateLimit =>
  windowAt(now) > rateLimit.windowStartedAt || isFarAhead(rateLimit.windowStartedAt, now)
    ? { ...rateLimit, windowStartedAt: windowAt(now), granted: 0 }
    : rateLimit;

/** Returns the end of the current pause (epoch ms); undefined without a pause. */
export const pauseEndOf = (
  { blockedUntil, blockedAt }: RateLimit,
  now: number,
): number | undefined =>
  blockedUntil > now && !isFarAhead(blockedAt, now) ? blockedUntil : undefined;

/**
 * Grants permits of the current window: at most half of the remaining ones, so that one process does not
 * take all, but at least `atLeast`, or none. Permits expire at the end of the caller's own window. While
 * the key is refused, grants one half-open probe every 30 s, and permits to requests with a new key.
 * @returns the same rate limit object when no permit is granted
 */
export const grantPermits = (
  rateLimit: RateLimit,
  request: GrantRequest,
): { readonly rateLimit: RateLimit; readonly grant: Granted | Wait } => {
  const { now, perWindow } = request;
  const pausedUntil = pauseEndOf(rateLimit, now);
  if (pausedUntil !== undefined) return { rateLimit, grant: waitUntil(pausedUntil, "paused") };
  const breaker = breakerFor(rateLimit.key, request);
  if (breaker.kind === "open") {
    return { rateLimit, grant: waitUntil(breaker.nextProbeAt, "key-refused") };
  }
  const probe = breaker.kind === "half-open" ? breaker.key.nextProbeAt : undefined;
  const { wanted, atLeast } = probe === undefined ? request : { wanted: 1, atLeast: 1 };
  const current = inWindow(rateLimit, now);
  const left = perWindow - current.granted;
  if (left < atLeast) {
    return { rateLimit, grant: waitUntil(current.windowStartedAt + WINDOW_MS, "budget-spent") };
  }
  const permits = Math.min(wanted, Math.max(atLeast, Math.floor(left / 2)));
  return {
    rateLimit: { ...current, granted: current.granted + permits, key: breaker.key },
    grant: { kind: "granted", permits, expiresAt: windowAt(now) + WINDOW_MS, probe },
  };
};

/** A permit, or the time of the next try (epoch ms) and the reason for the wait. */
export type Readiness = { readonly kind: "ready" } | Wait;

type Acquisition = Readiness | { readonly kind: "aborted" };

interface AcquireOptions {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Whether the request carries a key that was read after another one was refused. */
  readonly hasNewKey?: boolean;
}

/** A request in line. */
interface Waiter extends AcquireOptions {
  readonly permits: number;
  /** Whether the permits are reserved for later requests. */
  readonly isReservation: boolean;
  /** Time after which it waits no longer, epoch ms. */
  readonly leavesAt: number;
  readonly resolve: (result: Acquisition | Promise<never>) => void;
  readonly abort: () => void;
}

/** Unused permits of one window; `reserved` ones are for later requests of callers that have waited for them. */
interface Permits {
  expiresAt: number;
  free: number;
  reserved: number;
}

const noPermits = (): Permits => ({ expiresAt: 0, free: 0, reserved: 0 });

const addTo = (permits: Permits, { permits: count, expiresAt }: Granted): void => {
  if (permits.expiresAt !== expiresAt) Object.assign(permits, noPermits(), { expiresAt });
  permits.free += count;
};

/** Creates the line of this process's requests that wait for permits, in order of arrival. */
const createLine = ({ now }: Clock) => {
  let waiters: readonly Waiter[] = [];
  let changed = new AbortController();

  /** @param result a promise rejects the request */
  const leave = (waiter: Waiter, result: Acquisition | Promise<never>): void => {
    waiter.signal.removeEventListener("abort", waiter.abort);
    waiters = waiters.filter((other) => other !== waiter);
    if (waiters.length === 0) changed.abort("changed");
    waiter.resolve(result);
  };

  return {
    leave,
    /** Requests with a new key come first: they have waited before, and no other gets a permit while the key is refused. */
    servable(): readonly Waiter[] {
      const withNewKey = waiters.filter(({ hasNewKey }) => hasNewKey);
      return withNewKey.length > 0 ? withNewKey : waiters;
    },
    /** Returns a signal that is aborted when the next request joins, or when the last one leaves. */
    nextChange(): AbortSignal {
      changed = new AbortController();
      return changed.signal;
    },
    join(request: Omit<Waiter, "leavesAt" | "resolve" | "abort">): Promise<Acquisition> {
      const { signal, maxWaitMs } = request;
      if (signal.aborted) return Promise.resolve({ kind: "aborted" });
      return new Promise((resolve) => {
        const waiter: Waiter = {
          ...request,
          leavesAt: now() + maxWaitMs,
          resolve,
          abort: () => leave(waiter, { kind: "aborted" }),
        };
        signal.addEventListener("abort", waiter.abort);
        waiters = [...waiters, waiter];
        changed.abort("changed");
      });
    },
    /** Sends away the requests that cannot wait that long. */
    endTooLong(wait: Wait): void {
      for (const waiter of waiters) if (wait.until > waiter.leavesAt) leave(waiter, wait);
    },
    fail(error: unknown): void {
      for (const waiter of waiters) leave(waiter, Promise.reject(error));
    },
  };
};

const CONTENDED = new Error("other processes were faster too often");

export interface RateLimiterPorts extends AccountStatePorts {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Creates the rate limiter of an account: grants permits to the requests of this process. Processes share the limit
 * through the account's ledger item.
 */
export const createRateLimiter = (
  ports: RateLimiterPorts,
  { name, requestsPerSecond: perWindow }: Pick<AccountSettings, "name" | "requestsPerSecond">,
) => {
  const { ledger, clock, random, log } = ports;
  const line = createLine(clock);
  let isServing = false;
  let permits = noPermits();
  /** A half-open probe that no request has used yet. Once it has expired, it is requested again. */
  let unusedProbe: Granted | undefined;
  let isKeyRefused = false;
  let pausedUntil = 0;
  let askAgainAt = 0;

  /**
   * Waits after a lost write. Processes that tried again at once would lose again and again, as one of them wins.
   * @throws CONTENDED after too many
   */
  const yieldToOthers = (lost: number): Promise<void> => {
    if (lost === MAX_LOST_WRITES) throw CONTENDED;
    return clock.sleep(Math.floor(random.fraction() * LOST_WRITE_PAUSE_MS * 2 ** (lost - 1)));
  };

  /** Acquires permits for the line. @returns the wait if none is granted @throws Error when the ledger fails */
  const askLedger = async (): Promise<Wait | undefined> => {
    // A pause or a refusal that begins meanwhile drops all permits, also those of this grant.
    const target = permits;
    const asked: { grant?: Granted | Wait } = {};
    const grantNow = (current = newRateLimit(name)): RateLimit => {
      // Read here, so that requests that joined during the read of the ledger are served too.
      const waiting = line.servable();
      const [{ permits: atLeast = 1, hasNewKey = false } = {}] = waiting;
      const wanted = waiting.reduce((sum, { permits }) => sum + permits, 0) || atLeast;
      const now = clock.now();
      const expiredProbe =
        unusedProbe && now >= unusedProbe.expiresAt ? unusedProbe.probe : undefined;
      const request = { wanted, atLeast, hasNewKey, now, perWindow, expiredProbe };
      const { rateLimit, grant } = grantPermits(current, request);
      const isShort = grant.kind === "granted" && grant.permits < wanted;
      askAgainAt = isShort ? now + COURTESY_MS : 0;
      asked.grant = grant;
      return rateLimit;
    };
    try {
      const { value } = await rateLimits.change(ledger, name, grantNow, undefined, yieldToOthers);
      isKeyRefused = value.key.state === "refused";
    } catch (error) {
      if (error !== CONTENDED) throw error;
      return waitUntil(clock.now() + CONTENDED_WAIT_MS, "budget-spent");
    }
    const { grant } = asked;
    if (grant?.kind === "wait") return grant;
    if (grant?.probe !== undefined) unusedProbe = grant;
    if (grant) addTo(target, grant);
    return undefined;
  };

  /** Returns the wait that needs no answer of the ledger. */
  const ownWait = (): Wait | undefined => {
    const now = clock.now();
    if (now < pausedUntil) return waitUntil(pausedUntil, "paused");
    return now < askAgainAt ? waitUntil(askAgainAt, "budget-spent") : undefined;
  };

  /** Whether there are `count` permits in `from` for requests that leave now. */
  const hasPermits = (from: "free" | "reserved", count: number): boolean =>
    permits[from] >= count && clock.now() < permits.expiresAt;

  const serveInOrder = (): void => {
    for (let [next] = line.servable(); next; [next] = line.servable()) {
      const count = isKeyRefused ? 1 : next.permits;
      if (!hasPermits("free", count)) return;
      permits.free -= count;
      if (next.isReservation) permits.reserved += count;
      else unusedProbe = undefined;
      line.leave(next, { kind: "ready" });
    }
  };

  const sleep = ({ until, because }: Wait, changed: AbortSignal): Promise<void> => {
    const spread = because === "budget-spent" ? random.fraction() * SPREAD_MS : 0;
    return clock.sleep(Math.max(0, until - clock.now()) + Math.floor(spread), changed);
  };

  /** Serves the line until it is empty. */
  const serve = async (): Promise<void> => {
    isServing = true;
    try {
      for (serveInOrder(); line.servable().length > 0; serveInOrder()) {
        const changed = line.nextChange();
        const wait = ownWait() ?? (await askLedger());
        // Permits were granted, but may have expired before they arrived.
        if (!wait) serveInOrder();
        line.endTooLong(wait ?? waitUntil(clock.now(), "budget-spent"));
        if (wait) await sleep(wait, changed);
      }
    } catch (error) {
      line.fail(error);
    } finally {
      isServing = false;
    }
  };

  const join = (options: AcquireOptions, count: number, isReservation: boolean) => {
    const result = line.join({ ...options, permits: count, isReservation });
    if (!isServing) void serve();
    return result;
  };

  const discard = (): void => {
    permits = noPermits();
  };

  return {
    /** Waits for a permit for immediate use. @throws Error when the ledger fails */
    async acquire(options: AcquireOptions): Promise<Acquisition> {
      if (!hasPermits("reserved", 1)) return join(options, 1, false);
      permits.reserved -= 1;
      unusedProbe = undefined;
      return { kind: "ready" };
    },
    /**
     * Waits for permits for later `acquire` calls, which then return at once until the window ends.
     * Reserves a single permit if the rate limit is lower than `count`, and while the key is refused.
     * @throws Error when the ledger fails
     */
    reserve: (options: AcquireOptions, count: number): Promise<Acquisition> =>
      join(options, count > perWindow ? 1 : count, true),
    /** Drops unused permits, also those of a grant in progress. */
    discard,
    /**
     * Drops unused permits, and grants none before `until` (epoch ms). Once the ledger holds the pause, it alone
     * decides, so that an operator can lift the pause. Never rejects.
     */
    async pause(until: number): Promise<void> {
      discard();
      pausedUntil = Math.max(pausedUntil, until);
      const recorded = await changeAccountState(ports, name, (rateLimit) =>
        pauseRequests(rateLimit, { now: clock.now(), until }),
      );
      if (recorded && pausedUntil <= until) pausedUntil = 0;
      if (!recorded?.hasEvent) return;
      const text = "provider asked for a long pause; the account sends nothing until its end";
      log.warn(text, { account: name, until: isoText(until) });
    },
    /** Whether the key was refused when this process last read the rate limit. */
    isKeyRefused: (): boolean => isKeyRefused,
  };
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;
