import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import type {
  DueEntry,
  Ledger,
  LedgerItem,
  Shards,
} from "../../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../../support/memory-ledger.ts";
import type { DueHistory } from "../ports/ledger.ts";

const MAX_REMEMBERED = 8;

/** The caller of a port, with its own clock. */
export interface Caller {
  readonly name: string;
  readonly clock: Pick<Clock, "now">;
  /** Whether its clock has jumped. */
  hasJumped(): boolean;
  isAlive(): boolean;
}

type OnWrite = (item: LedgerItem, previous: LedgerItem | undefined, by: Caller) => void;

/** The ledger of a run, open to the checks. */
export interface ObservedLedger extends DueHistory {
  /** The ledger without faults, for reads by the checks. */
  readonly true: Ledger;
  /** Current items by key. */
  readonly items: ReadonlyMap<string, LedgerItem>;
  /** The same ledger for one caller, which puts due entries into these shards. */
  usedBy(caller: Caller, shards: Shards): Ledger;
  /** Registers a listener for every read of an item that exists. */
  onRead(listener: (item: LedgerItem, by: Caller) => void): void;
  /** Registers a listener for every write that took effect. */
  onWrite(listener: OnWrite): void;
}

const byDueTime = (items: Iterable<LedgerItem>): readonly DueEntry[] =>
  [...items]
    .flatMap(({ key, dueAt }) => (dueAt === undefined ? [] : [{ key, dueAt }]))
    .sort((a, b) => a.dueAt - b.dueAt);

export const createObservedLedger = (): ObservedLedger => {
  /** Those of the newest write. The ledger in memory takes a write before it returns a promise. */
  let writing: Shards | undefined;
  const ledger = createMemoryLedger((key) => writing?.of(key) ?? 0);
  /** Shard of each item, by its key. */
  const shardOf = new Map<string, number>();
  const items = new Map<string, LedgerItem>();
  const listeners: OnWrite[] = [];
  const readListeners: ((item: LedgerItem, by: Caller) => void)[] = [];
  /** The item that each of the newest writes replaced, the newest write last. */
  const replaced: { readonly key: string; readonly item: LedgerItem | undefined }[] = [];

  return {
    items,
    onWrite: (listener) => {
      listeners.push(listener);
    },
    onRead: (listener) => {
      readListeners.push(listener);
    },
    before(writes, shard) {
      const then = new Map(items);
      for (const { key, item } of replaced.slice(-writes).reverse()) {
        if (item) then.set(key, item);
        else then.delete(key);
      }
      const isShown = ({ key }: DueEntry) => shard === undefined || shardOf.get(key) === shard;
      return byDueTime(then.values()).filter(isShown);
    },
    true: ledger,
    usedBy: (caller, shards) => ({
      read(key) {
        const item = items.get(key);
        if (item) for (const listener of readListeners) listener(item, caller);
        return ledger.read(key);
      },
      listDue: ledger.listDue,
      list: ledger.list,
      async write(item) {
        writing = shards;
        const answer = await ledger.write(item);
        if (answer === "conflict") return answer;
        shardOf.set(item.key, shards.of(item.key));
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
