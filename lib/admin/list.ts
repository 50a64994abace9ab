import { commands, splitCommandKey } from "../engine/command.ts";
import { readListedRejection } from "../engine/rejection.ts";
import { isoText } from "../events/event.ts";
import { behindInstant, dayOf, newestFirst, partitionsOf } from "../ledger/listing.ts";
import { isUnreadable } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS, MAX_DEADLINE_MS } from "../ledger/retention.ts";
import type { Ledger, ListEntry } from "../platform/ports/ledger.ts";
import { cursorOf, sortOf } from "./list-cursor.ts";
import type { ListPage, ListQuery, ListRow } from "./list-query.ts";

/**
 * Approximate maximum of entries and days that one page examines. A rare status or a long period takes more
 * pages, not longer ones.
 */
const MAX_EXAMINED = 1_000;
const MAX_DAYS = 366;
/** Entries and days that are read at once. */
const MAX_GROUP = 250;
const MAX_DAYS_AT_ONCE = 16;

const DAY_MS = 24 * 60 * 60 * 1000;
/** The clock of a function may be ahead of the reader's. */
const CLOCK_SKEW_MS = 60_000;
/** How far the list goes back without `since`: as long as the ledger keeps a command. */
const DEFAULT_SPAN_MS = LEDGER_RETENTION_MS + MAX_DEADLINE_MS;

const commandRow = async (ledger: Ledger, key: string): Promise<ListRow | undefined> => {
  const command = (await commands.read(ledger, key))?.value;
  if (!command) return undefined;
  const { id, sender, account, operation, lane, state, acceptedAt } = command;
  return {
    ...{ id, sender, account, operation, resource: lane, status: state.status },
    at: isoText(acceptedAt),
    ...("endedAt" in state && { endedAt: isoText(state.endedAt) }),
    ...("outcome" in state && state.outcome !== undefined && { outcome: state.outcome }),
    ...("reason" in state && state.reason !== undefined && { reason: state.reason }),
  };
};

const rejectionRow = async (
  ledger: Ledger,
  sender: string,
  id: string,
): Promise<ListRow | undefined> => {
  const listed = await readListedRejection(ledger, sender, id);
  if (!listed) return undefined;
  const { commandId = id, operation, reason, rejectedAt } = listed;
  return { id: commandId, sender, operation, status: "rejected", reason, at: isoText(rejectedAt) };
};

/** The row of an entry; undefined if its item has been deleted since. */
const rowOf = async (ledger: Ledger, entry: ListEntry): Promise<ListRow | undefined> => {
  const [kind = "", key = ""] = entry.key.split(/#(.*)/s);
  const { sender, id } = splitCommandKey(key);
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

/** Days from that of a `sort` back to that of `oldest`, `count` at most. */
const daysBack = (sort: string, oldest: string, count: number): readonly string[] => {
  const newest = Date.parse(dayOf(sort));
  const all = (newest - Date.parse(dayOf(oldest))) / DAY_MS + 1;
  return Array.from({ length: Math.min(all, count) }, (_, ago) =>
    dayOf(isoText(newest - ago * DAY_MS)),
  );
};

/** The newest entries of some days before a `sort`, of all their partitions together. */
const entriesOf = async (
  ledger: Ledger,
  days: readonly string[],
  before: string,
  limit: number,
): Promise<readonly ListEntry[]> => {
  const parts = await Promise.all(
    days.flatMap(partitionsOf).map((partition) => ledger.list(partition, before, limit)),
  );
  return parts.flat().sort(newestFirst).slice(0, limit);
};

/** The row of each entry; undefined for an entry that does not match the query. */
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

interface Group {
  readonly entries: readonly ListEntry[];
  /** Number of days that were read. */
  readonly days: number;
  /** The `sort` where the next group begins. */
  readonly next: string;
}

/**
 * Entries before a `sort`, the newest first, back to an instant. Each group reads twice as much as the one
 * before it: more entries, and more days once a day is exhausted.
 * @param first size of the first group
 */
async function* groupsFrom(
  ledger: Ledger,
  from: string,
  oldest: string,
  first: number,
): AsyncGenerator<Group> {
  let next = from;
  let size = first;
  let count = 1;
  while (next > oldest) {
    const days = daysBack(next, oldest, count);
    const found = await entriesOf(ledger, days, next, size);
    const last = found.length === size ? found.at(-1) : undefined;
    next = last?.sort ?? behindInstant(Date.parse(days.at(-1) ?? "") - 1);
    yield { entries: found.filter(({ sort }) => sort >= oldest), days: days.length, next };
    count = last ? 1 : Math.min(2 * count, MAX_DAYS_AT_ONCE);
    size = Math.max(size, Math.min(2 * size, MAX_GROUP));
  }
}

/** Where a page begins, and the instant that it goes back to. */
const boundsOf = ({ since, until, cursor }: ListQuery, now: number) => {
  const latest = now + CLOCK_SKEW_MS;
  const end = until === undefined ? latest : Math.min(Date.parse(until), latest);
  const start = since === undefined ? end - DEFAULT_SPAN_MS : Date.parse(since);
  const from = behindInstant(end);
  const goesOn = cursor === undefined ? from : sortOf(cursor);
  // Times before 1970 do not sort as texts, and no record is older.
  return { from: goesOn < from ? goesOn : from, oldest: isoText(Math.max(0, start)) };
};

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
  const { limit } = query;
  const { from, oldest } = boundsOf(query, now);
  const rows: ListRow[] = [];
  let examined = 0;
  let daysRead = 0;
  for await (const { entries, days, next } of groupsFrom(ledger, from, oldest, limit)) {
    const fitting = await rowsOf(ledger, entries, query);
    for (const [index, { sort }] of entries.entries()) {
      const row = fitting[index];
      if (row) rows.push(row);
      examined += 1;
      if (rows.length === limit || examined === MAX_EXAMINED) {
        return { rows, cursor: cursorOf(sort) };
      }
    }
    daysRead += days;
    if (daysRead >= MAX_DAYS && next > oldest) return { rows, cursor: cursorOf(next) };
  }
  return { rows };
};
