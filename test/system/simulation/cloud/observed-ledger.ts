import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import type { DueEntry, Ledger, LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../../support/memory-ledger.ts";
import type { DueHistory } from "../ports/ledger.ts";

const MAX_REMEMBERED = 8;

/** Whoever makes a call, with the time that it is for them. */
export interface Caller {
  readonly name: string;
  readonly clock: Pick<Clock, "now">;
  /** Whether its clock has not only gone, but jumped. */
  hasJumped(): boolean;
  isAlive(): boolean;
}

type OnWrite = (item: LedgerItem, previous: LedgerItem | undefined, by: Caller) => void;

/** The true ledger of a run, open to those who check it. */
export interface ObservedLedger extends DueHistory {
  /** As it truly is, for whoever only reads. */
  readonly true: Ledger;
  /** Every item as it is now, by key. */
  readonly items: ReadonlyMap<string, LedgerItem>;
  /** The same ledger for one of its users. */
  usedBy(caller: Caller): Ledger;
  /** Told of every write that took effect. */
  onWrite(listener: OnWrite): void;
}

const byDueTime = (items: Iterable<LedgerItem>): readonly DueEntry[] =>
  [...items]
    .flatMap(({ key, dueAt }) => (dueAt === undefined ? [] : [{ key, dueAt }]))
    .sort((a, b) => a.dueAt - b.dueAt);

export const createObservedLedger = (): ObservedLedger => {
  const ledger = createMemoryLedger();
  const items = new Map<string, LedgerItem>();
  const listeners: OnWrite[] = [];
  /** What each of the newest writes has replaced, the newest last. */
  const replaced: { readonly key: string; readonly item: LedgerItem | undefined }[] = [];

  return {
    items,
    onWrite: (listener) => {
      listeners.push(listener);
    },
    before(writes) {
      const then = new Map(items);
      for (const { key, item } of replaced.slice(-writes).reverse()) {
        if (item) then.set(key, item);
        else then.delete(key);
      }
      return byDueTime(then.values());
    },
    true: ledger,
    usedBy: (caller) => ({
      read: ledger.read,
      listDue: ledger.listDue,
      async write(item) {
        const answer = await ledger.write(item);
        if (answer === "conflict") return answer;
        const previous = items.get(item.key);
        items.set(item.key, item);
        replaced.push({ key: item.key, item: previous });
        if (replaced.length > MAX_REMEMBERED) replaced.shift();
        for (const listener of listeners) listener(item, previous, caller);
        return answer;
      },
    }),
  };
};
