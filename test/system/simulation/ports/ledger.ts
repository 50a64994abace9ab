import type { DueEntry, Ledger } from "../../../../lib/platform/ports/ledger.ts";
import { HANGS, type Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";

const READ_KINDS = ["read fails", ...HANGS];
const WRITE_KINDS = [
  ...["write fails", "write answer lost", "write retried", "write conflicts"],
  ...HANGS,
];
const LIST_KINDS = ["query fails", "query stale", "query incomplete", ...HANGS];

/** Earlier states of the due index, which a stale query returns. */
export interface DueHistory {
  /** A shard of the index before the last `writes` writes; undefined: all of it. */
  before(writes: number, shard: number | undefined): readonly DueEntry[];
}

/** The ledger as a machine reaches it, with the faults of DynamoDB and of the network. */
export const hostileLedger = (
  ledger: Ledger,
  sandbox: Sandbox,
  { chance, history }: { readonly chance: Chance; readonly history: DueHistory },
): Ledger => ({
  read: (key) =>
    sandbox.call(`ledger.read ${key}`, READ_KINDS, async (kind) => {
      if (kind === "read fails") throw new Error("read failed");
      return ledger.read(key);
    }),
  write: (item) =>
    sandbox.call(`ledger.write ${item.key}`, WRITE_KINDS, async (kind) => {
      if (kind === "write fails") throw new Error("write failed");
      // Reports that another writer was faster.
      if (kind === "write conflicts") return "conflict";
      const answer = await ledger.write(item);
      if (kind === "write answer lost") throw new Error("no answer to a write");
      // The SDK repeats a write without an answer, and conflicts with its own version.
      return kind === "write retried" ? "conflict" : answer;
    }),
  listDue: (until, limit, shard, from = Number.NEGATIVE_INFINITY) =>
    sandbox.call("ledger.listDue", LIST_KINDS, async (kind, place) => {
      if (kind === "query fails") throw new Error("query failed");
      const entries =
        kind === "query stale"
          ? history
              .before(chance.between(`stale ${place}`, 1, 8), shard)
              .filter(({ dueAt }) => dueAt >= from && dueAt <= until)
              .slice(0, limit)
          : await ledger.listDue(until, limit, shard, from);
      return kind === "query incomplete"
        ? entries.filter(({ key }) => chance.happens(`shown ${place} ${key}`, 0.5))
        : entries;
    }),
  // Operators read the list; no function does.
  list: ledger.list,
});
