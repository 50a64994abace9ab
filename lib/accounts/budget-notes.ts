import { acceptKey, blockBudget, budgets, newBudget, refuseKey } from "../ledger/budget.ts";
import type { EventBus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Log } from "../ports/log.ts";

type Budget = Parameters<typeof blockBudget>[0];

/** What the provider's answers say to everybody who uses the account. None of it ever rejects. */
export interface BudgetNotes {
  blockedUntil(until: number): Promise<void>;
  /** @param sentAt when the refused request left, epoch ms */
  keyRefused(sentAt: number): Promise<void>;
  keyAccepted(sentAt: number): Promise<void>;
}

interface NoteDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
}

export const createBudgetNotes = (deps: NoteDeps, account: string): BudgetNotes => {
  const { ledger, clock, log } = deps;

  /** The call has its answer already: a ledger that is away must not take it back. */
  const note = async (next: (budget: Budget) => Budget): Promise<void> => {
    try {
      const { value } = await budgets.change(ledger, account, (budget = newBudget(account)) =>
        next(budget),
      );
      if (value.outbox.length > 0) await budgets.publishOrLeave(deps, account);
    } catch (error) {
      log.warn(
        "what the provider said to the account is not noted, the next answer says it again",
        {
          account,
          errorMessage: error instanceof Error ? error.message : String(error),
        },
      );
    }
  };

  return {
    blockedUntil: (until) => note((budget) => blockBudget(budget, { now: clock.now(), until })),
    keyRefused: (sentAt) => note((budget) => refuseKey(budget, { now: clock.now(), sentAt })),
    keyAccepted: (sentAt) => note((budget) => acceptKey(budget, { now: clock.now(), sentAt })),
  };
};
