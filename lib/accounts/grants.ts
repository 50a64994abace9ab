import { budgets, type Grant, grantTokens, newBudget } from "../ledger/budget.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import { createTokenPool, type TokenPool } from "./token-pool.ts";

/** A process that got less than it wanted lets others ask before it asks again. */
const COURTESY_MS = 50;

export type Wait = Extract<Grant, { kind: "wait" }>;

/** How many calls of this process wait for a turn. */
export interface Asking {
  readonly all: number;
  /** Of those, how many carry a key that was read after the refusal of another. */
  readonly withNewKey: number;
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
  /** Whether the key was refused when the ledger was last asked. */
  isKeyRefused(): boolean;
}

const waitOf = (grant: Grant | undefined): Wait | undefined =>
  grant?.kind === "wait" ? grant : undefined;

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

  const askLedger = async (): Promise<Wait | undefined> => {
    const asked: { grant?: Grant; discards: number } = { discards };
    const { value } = await budgets.change(ledger, name, (budget = newBudget(name)) => {
      // Counted as late as possible: whoever has come since the read gets a turn too.
      const { all, withNewKey } = asking();
      const hasNewKey = withNewKey > 0;
      const wanted = Math.max(1, hasNewKey ? withNewKey : all);
      const now = clock.now();
      const step = grantTokens(budget, { now, wanted, perWindow: requestsPerSecond, hasNewKey });
      const isShort = step.grant.kind === "granted" && step.grant.tokens < wanted;
      notBefore = isShort ? now + COURTESY_MS : 0;
      Object.assign(asked, { grant: step.grant, discards });
      return step.budget;
    });
    isKeyRefused = value.key.state === "refused";
    const { grant } = asked;
    // What was granted before a pause is not to be used in it.
    if (grant?.kind === "granted" && asked.discards === discards) tokens.add(grant);
    return waitOf(grant);
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
    isKeyRefused: () => isKeyRefused,
  };
};
