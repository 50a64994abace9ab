import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Random } from "../platform/ports/random.ts";
import { type Granted, grantPermits, newRateLimit, rateLimits, type Wait } from "./rate-limit.ts";

/** Pause of a process that got fewer permits than it wanted, so that other processes come first. */
const COURTESY_MS = 50;
/** Longest random delay of processes that wait for the same window: the ledger takes one write at a time. */
const SPREAD_MS = 100;

/** A permit, or the time of the next try (epoch ms) and the reason for the wait. */
export type Readiness = { readonly kind: "ready" } | Wait;

type Acquisition = Readiness | { readonly kind: "aborted" };

interface AcquireOptions {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Whether the request carries a key that was read after another one was refused. */
  readonly hasNewKey?: boolean;
}

/** Distributes the permits of an account's rate limit inside one process. */
export interface RateLimiter {
  /** Waits for a permit for immediate use. @throws Error when the ledger fails */
  acquire(options: AcquireOptions): Promise<Acquisition>;
  /**
   * Waits for permits for later `acquire` calls, which then return at once until the window ends.
   * Reserves a single permit if the rate limit is lower than `permits`, and while the key is refused.
   */
  reserve(options: AcquireOptions, permits: number): Promise<Acquisition>;
  /** Drops unused permits. */
  discard(): void;
  /** Grants no permit before `until` (epoch ms), also if the ledger does not hold the pause. */
  pause(until: number): void;
  /** Hands a pause over to the ledger, where an operator can lift it. */
  leavePause(until: number): void;
  /** Whether the key was refused when this process last read the rate limit. */
  isKeyRefused(): boolean;
}

interface RateLimiterDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
}

interface RateLimitedAccount {
  readonly name: string;
  readonly requestsPerSecond: number;
}

/** Creates a pool of unused permits, all of one window. */
const createPermitPool = (clock: Clock) => {
  let left: Pick<Granted, "permits" | "expiresAt"> = { permits: 0, expiresAt: 0 };
  return {
    add({ permits, expiresAt }: typeof left): void {
      const kept = left.expiresAt === expiresAt ? left.permits : 0;
      left = { permits: kept + permits, expiresAt };
    },
    /** Takes `count` permits or none. @returns their expiry (epoch ms); undefined if there are fewer */
    take(count: number): number | undefined {
      if (left.permits < count || clock.now() >= left.expiresAt) return undefined;
      left = { ...left, permits: left.permits - count };
      return left.expiresAt;
    },
    clear(): void {
      left = { permits: 0, expiresAt: 0 };
    },
  };
};

/** Permits that the requests in the queue need now. */
interface Demand {
  /** Permits for all requests that may be served. */
  readonly wanted: number;
  /** Permits for the next request; fewer would serve no request. */
  readonly atLeast: number;
  readonly hasNewKey: boolean;
}

/** Acquires permits from the ledger for this process. */
const createGrantedPermits = (
  { ledger, clock }: RateLimiterDeps,
  { name, requestsPerSecond }: RateLimitedAccount,
  demandNow: () => Demand,
) => {
  const pool = createPermitPool(clock);
  let isKeyRefused = false;
  let notBefore = 0;
  let discards = 0;
  let underWay: Promise<Wait | undefined> | undefined;
  let unusedProbe: Granted | undefined;

  const expiredProbe = (now: number): number | undefined =>
    unusedProbe && now >= unusedProbe.expiresAt ? unusedProbe.probe : undefined;

  const askLedger = async (): Promise<Wait | undefined> => {
    const asked: { grant?: Granted | Wait } = {};
    const discardsBefore = discards;
    const { value } = await rateLimits.change(ledger, name, (current = newRateLimit(name)) => {
      // Computed here, so that requests that joined during the read of the ledger are served too.
      const demand = demandNow();
      const now = clock.now();
      const { rateLimit, grant } = grantPermits(current, {
        ...demand,
        now,
        perWindow: requestsPerSecond,
        expiredProbe: expiredProbe(now),
      });
      const isShort = grant.kind === "granted" && grant.permits < demand.wanted;
      notBefore = isShort ? now + COURTESY_MS : 0;
      asked.grant = grant;
      return rateLimit;
    });
    isKeyRefused = value.key.state === "refused";
    const { grant } = asked;
    if (grant?.kind === "wait") return grant;
    if (grant?.probe !== undefined) unusedProbe = grant;
    // A pause that began meanwhile has dropped all permits, and may not be in the ledger yet.
    if (grant && discardsBefore === discards) pool.add(grant);
    return undefined;
  };

  return {
    pool,
    /**
     * Puts granted permits into the pool. Concurrent calls share one write.
     * @returns the wait if no permit was granted
     * @throws Error when the ledger fails
     */
    async refill(): Promise<Wait | undefined> {
      if (clock.now() < notBefore) {
        return { kind: "wait", until: notBefore, because: "budget-spent" };
      }
      underWay ??= askLedger().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    /** Drops unused permits, also those of a grant in progress. */
    discard(): void {
      discards += 1;
      pool.clear();
    },
    /** Records that a permit was used. An unused half-open probe is requested again. */
    markUsed(): void {
      unusedProbe = undefined;
    },
    isKeyRefused: () => isKeyRefused,
  };
};

interface QueuedRequest extends AcquireOptions {
  readonly permits: number;
  /** Whether the permits are reserved for later requests. */
  readonly isReservation: boolean;
}

interface Waiter {
  readonly request: QueuedRequest;
  readonly endsAt: number;
  readonly end: (result: Acquisition) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Creates the queue of this process's requests for permits, in order of arrival. Requests with a new key
 * come first: they have waited before, and no other request gets a permit while the key is refused.
 * @param serve takes permits for a request; returns false if there are too few
 * @param refill acquires permits for the queue; returns the wait if there are none
 */
const createPermitQueue = (
  { clock, random }: RateLimiterDeps,
  serve: (request: QueuedRequest) => boolean,
  refill: () => Promise<Wait | undefined>,
) => {
  let waiters: readonly Waiter[] = [];
  let isRunning = false;
  /** Aborted when the queue changes, to wake the loop. */
  let change = new AbortController();

  const servable = (): readonly Waiter[] => {
    const withNewKey = waiters.filter(({ request }) => request.hasNewKey);
    return withNewKey.length > 0 ? withNewKey : waiters;
  };

  const serveInOrder = (): void => {
    for (let [next] = servable(); next && serve(next.request); [next] = servable()) {
      next.end({ kind: "ready" });
    }
  };

  /** Ends the waiters that cannot wait that long. */
  const endTooLong = (wait: Wait): void => {
    for (const { endsAt, end } of waiters) if (wait.until > endsAt) end(wait);
  };

  const sleep = ({ until, because }: Wait): Promise<void> => {
    const spread = because === "budget-spent" ? random.fraction() * SPREAD_MS : 0;
    return clock.sleep(Math.max(0, until - clock.now()) + Math.floor(spread), change.signal);
  };

  const run = async (): Promise<void> => {
    isRunning = true;
    try {
      for (serveInOrder(); waiters.length > 0; serveInOrder()) {
        change = new AbortController();
        const wait = await refill();
        // Permits were granted, but may have expired before they arrived.
        if (!wait) serveInOrder();
        endTooLong(wait ?? { kind: "wait", until: clock.now(), because: "budget-spent" });
        if (wait) await sleep(wait);
      }
    } catch (error) {
      for (const { fail } of waiters) fail(error);
    } finally {
      isRunning = false;
    }
  };

  const remove = (waiter: Waiter): void => {
    waiters = waiters.filter((other) => other !== waiter);
    // Ends the sleep of the loop when the queue is empty.
    if (waiters.length === 0) change.abort();
  };

  return {
    demand(): Demand {
      const requests = servable().map(({ request }) => request);
      const wanted = requests.reduce((sum, { permits }) => sum + permits, 0);
      const { permits: atLeast = 1, hasNewKey = false } = requests[0] ?? {};
      return { wanted: Math.max(1, wanted), atLeast, hasNewKey };
    },
    /** @throws Error when `refill` fails */
    async join(request: QueuedRequest): Promise<Acquisition> {
      const { signal, maxWaitMs } = request;
      if (signal.aborted) return { kind: "aborted" };
      return new Promise((resolve, reject) => {
        const abort = (): void => waiter.end({ kind: "aborted" });
        const leave = (): void => {
          signal.removeEventListener("abort", abort);
          remove(waiter);
        };
        const waiter: Waiter = {
          request,
          endsAt: clock.now() + maxWaitMs,
          end(result) {
            leave();
            resolve(result);
          },
          fail(error) {
            leave();
            reject(error);
          },
        };
        signal.addEventListener("abort", abort);
        waiters = [...waiters, waiter];
        if (isRunning) change.abort();
        else void run();
      });
    },
  };
};

/** Creates the rate limiter of an account. Processes share the limit through the account's ledger item. */
export const createRateLimiter = (
  deps: RateLimiterDeps,
  account: RateLimitedAccount,
): RateLimiter => {
  const { clock } = deps;
  const granted = createGrantedPermits(deps, account, () => queue.demand());
  const reserved = createPermitPool(clock);
  let pausedUntil = 0;

  const refill = async (): Promise<Wait | undefined> =>
    clock.now() < pausedUntil
      ? { kind: "wait", until: pausedUntil, because: "paused" }
      : granted.refill();

  const serve = ({ permits, isReservation }: QueuedRequest): boolean => {
    const count = granted.isKeyRefused() ? 1 : permits;
    const expiresAt = granted.pool.take(count);
    if (expiresAt === undefined) return false;
    if (isReservation) reserved.add({ permits: count, expiresAt });
    else granted.markUsed();
    return true;
  };

  const queue = createPermitQueue(deps, serve, refill);

  const discard = (): void => {
    granted.discard();
    reserved.clear();
  };

  return {
    async acquire(options) {
      if (reserved.take(1) === undefined) {
        return queue.join({ ...options, permits: 1, isReservation: false });
      }
      granted.markUsed();
      return { kind: "ready" };
    },
    reserve(options, permits) {
      const count = permits > account.requestsPerSecond ? 1 : permits;
      return queue.join({ ...options, permits: count, isReservation: true });
    },
    discard,
    pause(until) {
      pausedUntil = Math.max(pausedUntil, until);
      discard();
    },
    leavePause(until) {
      if (pausedUntil <= until) pausedUntil = 0;
    },
    isKeyRefused: granted.isKeyRefused,
  };
};
