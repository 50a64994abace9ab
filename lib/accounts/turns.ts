import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Random } from "../ports/random.ts";
import type { Readiness } from "./account.ts";
import { createGrants, type Wait } from "./grants.ts";
import { createTokenPool } from "./token-pool.ts";

/** Everybody who waits does so for the same moment; the ledger takes one write after the other. */
const SPREAD_MS = 100;

interface TurnRequest {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Whether the request carries a key that was read after the refusal of another. */
  readonly hasNewKey?: boolean;
}

type Turn = Readiness | { readonly kind: "aborted" };

/** The turns of one process in an account's request budget. */
export interface Turns {
  /** Waits for a turn, which the caller has to use at once. @throws Error when the ledger fails */
  take(request: TurnRequest): Promise<Turn>;
  /** Waits for a turn that a later `take` finds without waiting, while its window lasts. */
  reserve(request: TurnRequest): Promise<Turn>;
  /** Throws away what was granted and is not used yet. */
  discard(): void;
  /** Gives no turn before `until` (epoch ms), whatever the ledger knows of it. */
  pause(until: number): void;
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
  const asking = { all: 0, withNewKey: 0 };
  const granted = createGrants({ ledger, clock }, account, () => asking);
  const reserved = createTokenPool(clock);
  let pausedUntil = 0;

  const ask = async (): Promise<Wait | undefined> =>
    clock.now() < pausedUntil
      ? { kind: "wait", until: pausedUntil, because: "paused" }
      : granted.ask();

  const waitOut = ({ until, because }: Wait, signal: AbortSignal): Promise<void> => {
    const spread = because === "budget-spent" ? random.fraction() * SPREAD_MS : 0;
    return clock.sleep(Math.max(0, until - clock.now()) + Math.floor(spread), signal);
  };

  const waitFor = async ({ maxWaitMs, signal }: TurnRequest, use: () => boolean): Promise<Turn> => {
    const endsAt = clock.now() + maxWaitMs;
    while (!signal.aborted) {
      if (use()) return { kind: "ready" };
      const wait = await ask();
      // Without one, a turn was granted: to others that were faster, or it is over when it comes.
      const until = wait?.until ?? clock.now();
      if (until > endsAt) return wait ?? { kind: "wait", until, because: "budget-spent" };
      if (wait) await waitOut(wait, signal);
    }
    return { kind: "aborted" };
  };

  const counted = async (request: TurnRequest, use: () => boolean): Promise<Turn> => {
    const withNewKey = request.hasNewKey ? 1 : 0;
    asking.all += 1;
    asking.withNewKey += withNewKey;
    try {
      return await waitFor(request, use);
    } finally {
      asking.all -= 1;
      asking.withNewKey -= withNewKey;
    }
  };

  const discard = (): void => {
    granted.discard();
    reserved.clear();
  };

  return {
    take: (request) =>
      counted(request, () => reserved.take() !== undefined || granted.tokens.take() !== undefined),
    reserve: (request) =>
      counted(request, () => {
        const expiresAt = granted.tokens.take();
        if (expiresAt !== undefined) reserved.add({ tokens: 1, expiresAt });
        return expiresAt !== undefined;
      }),
    discard,
    pause(until) {
      pausedUntil = Math.max(pausedUntil, until);
      discard();
    },
    isKeyRefused: granted.isKeyRefused,
  };
};
