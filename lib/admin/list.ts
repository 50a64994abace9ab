import * as z from "zod";
import { commands } from "../engine/command.ts";
import { readRejections } from "../engine/rejection.ts";
import { behindInstant, dayOf, partitionsOf } from "../ledger/listing.ts";
import { isUnreadable } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS, MAX_DEADLINE_MS } from "../ledger/retention.ts";
import type { Ledger, ListEntry } from "../platform/ports/ledger.ts";
import { instant } from "./command-view.ts";

/** Entries that one page examines at most, so that a rare status costs many pages and no long one. */
const MAX_EXAMINED = 1_000;

export const LIST_STATUSES = [
  ...["accepted", "waiting", "running", "following", "succeeded", "failed", "cancelled"],
  ...["rejected", "unknown-outcome"],
] as const;

/** Filters of the list; an absent one accepts everything. */
export const listQuerySchema = z.strictObject({
  account: z.string().optional(),
  operation: z.string().optional(),
  sender: z.string().optional(),
  /** Part of the lane's name, such as `my-container`. */
  resource: z.string().optional(),
  /** `unknown-outcome` selects failed commands with that reason. */
  status: z.enum(LIST_STATUSES).optional(),
  /** Instants in ISO 8601: accepted at or after, and at or before. */
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  /** Where the page before ended. */
  cursor: z.string().max(1_024).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

export type ListQuery = z.output<typeof listQuerySchema>;

const listRowSchema = z.object({
  /** The id that `skyhook status` takes: of the command, or of a rejected request. */
  id: z.string(),
  sender: z.string(),
  /** Absent for a rejection. */
  account: z.string().optional(),
  operation: z.string(),
  /** Name of the lane; absent for a rejection. */
  resource: z.string().optional(),
  /** `unreadable` for a record of a newer version. */
  status: z.string(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  /** When the command was accepted, or the request rejected. */
  at: z.string(),
  endedAt: z.string().optional(),
});

export const listPageSchema = z.object({
  rows: z.array(listRowSchema),
  /** Where the next page begins; absent at the end of the list. A short page may have one. */
  cursor: z.string().optional(),
});

export type ListRow = z.output<typeof listRowSchema>;
export type ListPage = z.output<typeof listPageSchema>;

const commandRow = async (ledger: Ledger, key: string): Promise<ListRow | undefined> => {
  const command = (await commands.read(ledger, key))?.value;
  if (!command) return undefined;
  const { id, sender, account, operation, lane, state, acceptedAt } = command;
  return {
    ...{ id, sender, account, operation, resource: lane, status: state.status },
    at: instant(acceptedAt),
    ...("endedAt" in state && { endedAt: instant(state.endedAt) }),
    ...("outcome" in state && state.outcome !== undefined && { outcome: state.outcome }),
    ...("reason" in state && state.reason !== undefined && { reason: state.reason }),
  };
};

const rejectionRow = async (
  ledger: Ledger,
  sender: string,
  id: string,
): Promise<ListRow | undefined> => {
  const newest = (await readRejections(ledger, sender, id)).at(-1);
  if (!newest) return undefined;
  const { commandId = id, operation, reason, rejectedAt } = newest;
  return { id: commandId, sender, operation, status: "rejected", reason, at: instant(rejectedAt) };
};

/** The row of an entry; undefined for one that has left the ledger since. */
const rowOf = async (ledger: Ledger, entry: ListEntry): Promise<ListRow | undefined> => {
  const [kind = "", key = ""] = entry.key.split(/#(.*)/s);
  const [sender = "", id = ""] = key.split(/\/(.*)/s);
  try {
    return kind === "rejection"
      ? await rejectionRow(ledger, sender, id)
      : await commandRow(ledger, key);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const { account, operation = "", resource, sort } = entry;
    const at = sort.slice(0, sort.indexOf("#"));
    return { id, sender, account, operation, resource, status: "unreadable", at };
  }
};

const matchesFields = (entry: ListEntry, query: ListQuery): boolean =>
  (query.account ?? entry.account) === entry.account &&
  (query.operation ?? entry.operation) === entry.operation &&
  (query.sender ?? entry.sender) === entry.sender &&
  (query.resource === undefined || (entry.resource ?? "").includes(query.resource));

const matchesStatus = ({ status, reason }: ListRow, wanted: ListQuery["status"]): boolean =>
  wanted === undefined ||
  (wanted === "unknown-outcome" ? status === "failed" && reason === wanted : status === wanted);

/** The newest entries of a day before a `sort`, of all its partitions together. */
const entriesOf = async (
  ledger: Ledger,
  day: string,
  before: string,
  limit: number,
): Promise<readonly ListEntry[]> => {
  const parts = await Promise.all(
    partitionsOf(day).map((partition) => ledger.list(partition, before, limit)),
  );
  return parts
    .flat()
    .sort((a, b) => (a.sort < b.sort ? 1 : -1))
    .slice(0, limit);
};

/** The rows of entries that fit the query, with the entries that do not as undefined. */
const rowsOf = (
  ledger: Ledger,
  entries: readonly ListEntry[],
  query: ListQuery,
): Promise<readonly (ListRow | undefined)[]> =>
  Promise.all(
    entries.map(async (entry) => {
      if (!matchesFields(entry, query)) return undefined;
      const row = await rowOf(ledger, entry);
      return row && matchesStatus(row, query.status) ? row : undefined;
    }),
  );

/** Entries before a `sort`, the newest first, in groups of at most `size`, back to an instant. */
async function* entriesFrom(
  ledger: Ledger,
  from: string,
  oldest: string,
  size: number,
): AsyncGenerator<readonly ListEntry[]> {
  let before = from;
  while (dayOf(before) >= dayOf(oldest)) {
    const found = await entriesOf(ledger, dayOf(before), before, size);
    yield found.filter(({ sort }) => sort >= oldest);
    const last = found.length === size ? found.at(-1) : undefined;
    before = last?.sort ?? behindInstant(Date.parse(dayOf(before)) - 1);
  }
}

/**
 * Lists commands and rejected requests, the newest first. Reads the item of each row, because a status
 * changes and the list does not.
 * @param now epoch ms
 */
export const listCommands = async (
  ledger: Ledger,
  query: ListQuery,
  now: number,
): Promise<ListPage> => {
  const { until = instant(now), limit } = query;
  const from = query.cursor ?? behindInstant(Date.parse(until));
  const oldest = query.since ?? instant(now - LEDGER_RETENTION_MS - MAX_DEADLINE_MS);
  const rows: ListRow[] = [];
  let examined = 0;
  for await (const entries of entriesFrom(ledger, from, oldest, limit)) {
    const fitting = await rowsOf(ledger, entries, query);
    for (const [index, { sort }] of entries.entries()) {
      const row = fitting[index];
      if (row) rows.push(row);
      examined += 1;
      if (rows.length === limit || examined === MAX_EXAMINED) return { rows, cursor: sort };
    }
  }
  return { rows };
};
