import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Random } from "../platform/ports/random.ts";
import { budgets, type Grant, grantTokens, newBudget } from "./rate-limit.ts";

interface Tokens {
  readonly tokens: number;
  /** Epoch ms; from then on they are worth nothing. */
  readonly expiresAt: number;
}

/** Turns that were granted to this process and are not used yet, all of one window. */
interface TokenPool {
  add(tokens: Tokens): void;
  /** Takes so many, or none. @returns when they die, or undefined when there are not so many */
  take(count: number): number | undefined;
  clear(): void;
}

const createTokenPool = (clock: Clock): TokenPool => {
  let left: Tokens = { tokens: 0, expiresAt: 0 };
  return {
    add({ tokens, expiresAt }) {
      const kept = left.expiresAt === expiresAt ? left.tokens : 0;
      left = { tokens: kept + tokens, expiresAt };
    },
    take(count) {
      if (left.tokens < count || clock.now() >= left.expiresAt) return undefined;
      left = { ...left, tokens: left.tokens - count };
      return left.expiresAt;
    },
    clear() {
      left = { tokens: 0, expiresAt: 0 };
    },
  };
};

/** A process that got less than it wanted lets others ask before it asks again. */
const COURTESY_MS = 50;

type Wait = Extract<Grant, { kind: "wait" }>;

/** What this process wants now. */
interface Asking {
  /** Turns of all who may be served. */
  readonly wanted: number;
  /** Turns of the one who is next: fewer would serve nobody. */
  readonly atLeast: number;
  /** Whether they are for requests with a key that was read after the refusal of another. */
  readonly hasNewKey: boolean;
}

/** What an account's budget has granted to one process. */
interface Grants {
  readonly tokens: TokenPool;
  /**
   * Puts what is granted into `tokens`: one question to the ledger for all who wait.
   * @returns why nothing was granted, and until when
   * @throws Error when the ledger fails
   */
  ask(): Promise<Wait | undefined>;
  /** Throws away what was granted and is not used yet, also what is on its way. */
  discard(): void;
  /** To be called when a token is used; a probe that is not may be asked for anew. */
  noteUse(): void;
  /** Whether the key was refused when the ledger was last asked. */
  isKeyRefused(): boolean;
}

type Granted = Extract<Grant, { kind: "granted" }>;

const createGrants = (
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  { name, requestsPerSecond }: { readonly name: string; readonly requestsPerSecond: number },
  asking: () => Asking,
): Grants => {
  const tokens = createTokenPool(clock);
  let isKeyRefused = false;
  let notBefore = 0;
  let discards = 0;
  let underWay: Promise<Wait | undefined> | undefined;
  let unusedProbe: Granted | undefined;

  /** The name of a probe that nobody can use any more. */
  const lostProbe = (now: number): number | undefined =>
    unusedProbe && now >= unusedProbe.expiresAt ? unusedProbe.probe : undefined;

  const askLedger = async (): Promise<Wait | undefined> => {
    const asked: { grant?: Grant } = {};
    const discardsBefore = discards;
    const { value } = await budgets.change(ledger, name, (budget = newBudget(name)) => {
      // Counted as late as possible: whoever has come since the read gets a turn too.
      const wish = asking();
      const now = clock.now();
      const { budget: next, grant } = grantTokens(budget, {
        ...wish,
        now,
        perWindow: requestsPerSecond,
        lostProbe: lostProbe(now),
      });
      const isShort = grant.kind === "granted" && grant.tokens < wish.wanted;
      notBefore = isShort ? now + COURTESY_MS : 0;
      asked.grant = grant;
      return next;
    });
    isKeyRefused = value.key.state === "refused";
    const { grant } = asked;
    if (grant?.kind === "wait") return grant;
    if (grant?.probe !== undefined) unusedProbe = grant;
    // What was asked for before a pause is not to be used in it: the ledger may not know of it yet.
    if (grant && discardsBefore === discards) tokens.add(grant);
    return undefined;
  };

  return {
    tokens,
    async ask() {
      if (clock.now() < notBefore) {
        return { kind: "wait", until: notBefore, because: "budget-spent" };
      }
      underWay ??= askLedger().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    discard() {
      discards += 1;
      tokens.clear();
    },
    noteUse() {
      unusedProbe = undefined;
    },
    isKeyRefused: () => isKeyRefused,
  };
};

/** Every process waits for the same moment; the ledger takes one write after the other. */
const SPREAD_MS = 100;

interface TurnRequest {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Whether the request carries a key that was read after the refusal of another. */
  readonly hasNewKey?: boolean;
}

/** What somebody waits for in line. */
interface Place extends TurnRequest {
  readonly turns: number;
  /** Whether the turns are for later calls. */
  readonly isReservation: boolean;
}

/** Whether a request may leave, and if not: when to ask again (epoch ms), and why it has to wait. */
export type Readiness =
  | { readonly kind: "ready" }
  | {
      readonly kind: "wait";
      readonly until: number;
      readonly because: "budget-spent" | "key-refused" | "paused";
    };

type Turn = Readiness | { readonly kind: "aborted" };

interface Waiter {
  readonly place: Place;
  readonly endsAt: number;
  readonly end: (turn: Turn) => void;
  readonly fail: (error: unknown) => void;
}

/** Those of one process who wait for turns. */
interface TurnQueue {
  /** Waits in line. @throws Error when asking fails */
  join(place: Place): Promise<Turn>;
  asking(): Asking;
}

interface QueueDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Gives somebody the turns, if they are there. */
  readonly serve: (place: Place) => boolean;
  /** Asks for turns for those in line. @returns why there are none, and until when */
  readonly ask: () => Promise<Wait | undefined>;
}

/**
 * First come, first served. Only who carries a new key goes before the others: it had its turn once,
 * and while the key is refused nobody else can go.
 */
const createTurnQueue = ({ clock, random, serve, ask }: QueueDeps): TurnQueue => {
  let waiters: readonly Waiter[] = [];
  let isWorking = false;
  /** Aborted as soon as there is news for whoever works. */
  let news = new AbortController();

  const inLine = (): readonly Waiter[] => {
    const withNewKey = waiters.filter(({ place }) => place.hasNewKey);
    return withNewKey.length > 0 ? withNewKey : waiters;
  };

  const serveInOrder = (): void => {
    for (let [next] = inLine(); next && serve(next.place); [next] = inLine()) {
      next.end({ kind: "ready" });
    }
  };

  const tellWhoCannotWait = (wait: Wait): void => {
    for (const { endsAt, end } of waiters) if (wait.until > endsAt) end(wait);
  };

  const waitOut = ({ until, because }: Wait): Promise<void> => {
    const spread = because === "budget-spent" ? random.fraction() * SPREAD_MS : 0;
    return clock.sleep(Math.max(0, until - clock.now()) + Math.floor(spread), news.signal);
  };

  const work = async (): Promise<void> => {
    for (serveInOrder(); waiters.length > 0; serveInOrder()) {
      news = new AbortController();
      const wait = await ask();
      // Turns were granted, or they are over when they come.
      if (!wait) {
        serveInOrder();
        tellWhoCannotWait({ kind: "wait", until: clock.now(), because: "budget-spent" });
      } else {
        tellWhoCannotWait(wait);
        await waitOut(wait);
      }
    }
  };

  const beginToWork = async (): Promise<void> => {
    isWorking = true;
    try {
      await work();
    } catch (error) {
      for (const { fail } of waiters) fail(error);
    } finally {
      isWorking = false;
    }
  };

  const leave = (waiter: Waiter): void => {
    waiters = waiters.filter((other) => other !== waiter);
    // Nobody is to be kept from ending by a wait for nobody.
    if (waiters.length === 0) news.abort();
  };

  return {
    asking() {
      const line = inLine();
      const turns = line.map(({ place }) => place.turns);
      return {
        wanted: Math.max(
          1,
          turns.reduce((sum, count) => sum + count, 0),
        ),
        atLeast: turns[0] ?? 1,
        hasNewKey: line[0]?.place.hasNewKey ?? false,
      };
    },
    async join(place) {
      const { signal, maxWaitMs } = place;
      if (signal.aborted) return { kind: "aborted" };
      return new Promise((resolve, reject) => {
        const stop = (): void => waiter.end({ kind: "aborted" });
        const depart = (): void => {
          signal.removeEventListener("abort", stop);
          leave(waiter);
        };
        const waiter: Waiter = {
          place,
          endsAt: clock.now() + maxWaitMs,
          end(turn) {
            depart();
            resolve(turn);
          },
          fail(error) {
            depart();
            reject(error);
          },
        };
        signal.addEventListener("abort", stop);
        waiters = [...waiters, waiter];
        if (isWorking) news.abort();
        else void beginToWork();
      });
    },
  };
};

/** The turns of one process in an account's request budget. */
export interface Turns {
  /** Waits for a turn, which the caller has to use at once. @throws Error when the ledger fails */
  take(request: TurnRequest): Promise<Turn>;
  /**
   * Waits for turns that later `take`s find without waiting, while their window lasts; all of them
   * come at once. Only one is waited for where no window has so many, and while the key is refused.
   */
  reserve(request: TurnRequest, turns: number): Promise<Turn>;
  /** Throws away what was granted and is not used yet. */
  discard(): void;
  /** Gives no turn before `until` (epoch ms), whatever the ledger knows of it. */
  pause(until: number): void;
  /** The ledger has a pause until then, which a person may lift there. */
  leavePause(until: number): void;
  /** Whether the key was refused when this process last looked. */
  isKeyRefused(): boolean;
}

interface TurnDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
}

export const createTurns = (
  { ledger, clock, random }: TurnDeps,
  account: { readonly name: string; readonly requestsPerSecond: number },
): Turns => {
  const granted = createGrants({ ledger, clock }, account, () => queue.asking());
  const reserved = createTokenPool(clock);
  let pausedUntil = 0;

  const ask = async (): Promise<Wait | undefined> =>
    clock.now() < pausedUntil
      ? { kind: "wait", until: pausedUntil, because: "paused" }
      : granted.ask();

  const serve = ({ turns, isReservation }: Place): boolean => {
    const count = granted.isKeyRefused() ? 1 : turns;
    const expiresAt = granted.tokens.take(count);
    if (expiresAt === undefined) return false;
    if (isReservation) reserved.add({ tokens: count, expiresAt });
    else granted.noteUse();
    return true;
  };

  const queue = createTurnQueue({ clock, random, serve, ask });

  const discard = (): void => {
    granted.discard();
    reserved.clear();
  };

  return {
    async take(request) {
      if (reserved.take(1) === undefined) {
        return queue.join({ ...request, turns: 1, isReservation: false });
      }
      granted.noteUse();
      return { kind: "ready" };
    },
    reserve(request, turns) {
      const count = turns > account.requestsPerSecond ? 1 : turns;
      return queue.join({ ...request, turns: count, isReservation: true });
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
