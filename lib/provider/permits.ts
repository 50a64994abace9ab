import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Random } from "../platform/ports/random.ts";
import { createGrants, type Wait } from "./granted-permits.ts";
import { createTokenPool } from "./permit-pool.ts";
import { createTurnQueue, type Place, type Turn, type TurnRequest } from "./permit-queue.ts";

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
