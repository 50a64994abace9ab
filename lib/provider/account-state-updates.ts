import type { EventBus } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import { acceptKey, blockBudget, budgets, newBudget, refuseKey } from "./rate-limit.ts";

type Budget = Parameters<typeof blockBudget>[0];

/** What the provider's answers say to everybody who uses the account. None of it ever rejects. */
export interface BudgetNotes {
  /** @returns whether the ledger has it, so that every process obeys it */
  blockedUntil(until: number): Promise<boolean>;
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
  const note = async (next: (budget: Budget) => Budget): Promise<boolean> => {
    try {
      const { value } = await budgets.change(ledger, account, (budget = newBudget(account)) =>
        next(budget),
      );
      if (value.outbox.length > 0) await budgets.publishOrLeave(deps, account);
      return true;
    } catch (error) {
      log.warn(
        "what the provider said to the account is not noted, the next answer says it again",
        {
          account,
          errorMessage: error instanceof Error ? error.message : String(error),
        },
      );
      return false;
    }
  };

  return {
    async blockedUntil(until) {
      let isReported = false;
      const isNoted = await note((budget) => {
        const next = blockBudget(budget, { now: clock.now(), until });
        isReported = next.outbox.at(-1) !== budget.outbox.at(-1);
        return next;
      });
      if (isNoted && isReported) {
        const fields = { account, until: new Date(until).toISOString() };
        log.warn("the provider asks for a long pause, no request of the account leaves", fields);
      }
      return isNoted;
    },
    async keyRefused(sentAt) {
      await note((budget) => refuseKey(budget, { now: clock.now(), sentAt }));
    },
    async keyAccepted(sentAt) {
      await note((budget) => acceptKey(budget, { now: clock.now(), sentAt }));
    },
  };
};
