import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { createTokenPool, type TokenPool } from "./permit-pool.ts";
import { budgets, type Grant, grantTokens, newBudget } from "./rate-limit.ts";

/** A process that got less than it wanted lets others ask before it asks again. */
const COURTESY_MS = 50;

export type Wait = Extract<Grant, { kind: "wait" }>;

/** What this process wants now. */
export interface Asking {
  /** Turns of all who may be served. */
  readonly wanted: number;
  /** Turns of the one who is next: fewer would serve nobody. */
  readonly atLeast: number;
  /** Whether they are for requests with a key that was read after the refusal of another. */
  readonly hasNewKey: boolean;
}

/** What an account's budget has granted to one process. */
export interface Grants {
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

export const createGrants = (
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
