import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Readiness } from "./account.ts";
import type { Asking, Wait } from "./granted-permits.ts";

/** Every process waits for the same moment; the ledger takes one write after the other. */
const SPREAD_MS = 100;

export interface TurnRequest {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Whether the request carries a key that was read after the refusal of another. */
  readonly hasNewKey?: boolean;
}

/** What somebody waits for in line. */
export interface Place extends TurnRequest {
  readonly turns: number;
  /** Whether the turns are for later calls. */
  readonly isReservation: boolean;
}

export type Turn = Readiness | { readonly kind: "aborted" };

interface Waiter {
  readonly place: Place;
  readonly endsAt: number;
  readonly end: (turn: Turn) => void;
  readonly fail: (error: unknown) => void;
}

/** Those of one process who wait for turns. */
export interface TurnQueue {
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
export const createTurnQueue = ({ clock, random, serve, ask }: QueueDeps): TurnQueue => {
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
