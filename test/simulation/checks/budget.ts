import * as z from "zod";
import { budgets } from "../../../lib/ledger/budget.ts";
import type { LedgerItem } from "../../../lib/ports/ledger.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Caller } from "../cloud/observed-ledger.ts";

const budgetSchema = z.object({
  windowStartedAt: z.number(),
  granted: z.number(),
  blockedUntil: z.number(),
});

const WINDOW_MS = 1_000;

const read = (item: LedgerItem | undefined) =>
  item ? budgetSchema.parse(item.value) : { windowStartedAt: 0, granted: 0, blockedUntil: 0 };

/**
 * Invariant 6: no window grants more requests than an account's budget; a grant dies with its window;
 * a 429 sets `blockedUntil`, which every new grant obeys. Windows and blocks are of the clock of
 * whoever asks, so each machine is held against its own; one whose clock has jumped can only be held
 * against how much it was granted at all.
 */
export const watchBudget = ({ ledger, chronicle, provider, requestsPerSecond }: Cloud): void => {
  const broken = (text: string): void => {
    chronicle.violations.push({ invariant: 6, text });
  };
  /** Requests that a machine may send, by machine and window of its own clock, and of all windows. */
  const credit = new Map<string, number>();
  const add = (name: string, count: number): void => {
    credit.set(name, (credit.get(name) ?? 0) + count);
  };
  const windowOf = ({ name, clock }: Caller): string =>
    `${name} in window ${Math.floor(clock.now() / WINDOW_MS)}`;
  let blockedUntil = 0;

  ledger.onWrite((item, previous, by) => {
    if (!item.key.startsWith(`${budgets.kind}#`)) return;
    const [before, after] = [read(previous), read(item)];
    const isSameWindow = before.windowStartedAt === after.windowStartedAt;
    const fresh = after.granted - (isSameWindow ? before.granted : 0);
    if (after.granted > requestsPerSecond) broken(`a window grants ${after.granted} requests`);
    if (after.windowStartedAt < before.windowStartedAt) broken("a window was opened again");
    if (fresh > 0) {
      if (by.clock.now() < blockedUntil && !by.hasJumped()) {
        broken(`${by.name} was granted requests in a pause`);
      }
      add(windowOf(by), fresh);
      add(by.name, fresh);
    }
    blockedUntil = Math.max(blockedUntil, after.blockedUntil);
  });

  provider.onRequest((by) => {
    const name = by.hasJumped() ? by.name : windowOf(by);
    if ((credit.get(name) ?? 0) <= 0) broken(`${name} has sent more than it was granted`);
    add(windowOf(by), -1);
    add(by.name, -1);
  });
};
