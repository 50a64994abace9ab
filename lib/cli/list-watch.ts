import type { ListPage, ListQuery, ListRow } from "../admin/list-query.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, ExitError } from "./exit-code.ts";

/** Pages that one check reads at most, when more commands came than a page holds. */
const MAX_PAGES = 20;
/** Rows that are remembered, so that a row that leaves the newest page and returns is not reported again. */
const MAX_KNOWN = 10_000;

/** The list after a check, or the reason why there was no answer. */
export type ListCheck =
  | {
      readonly kind: "rows";
      /** The newest rows. */
      readonly rows: readonly ListRow[];
      /** Rows that are new or have changed since the last check, the oldest first. */
      readonly changed: readonly ListRow[];
    }
  | { readonly kind: "lost"; readonly why: string };

type ReadPage = (query: ListQuery) => Promise<ListPage>;

export interface ListWatch {
  /** Connects again: after a lost connection, another run may answer at another address. */
  readonly open: () => Promise<ReadPage>;
  readonly query: ListQuery;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

const keyOf = ({ sender, id, at }: ListRow): string => `${sender}/${id}/${at}`;

/** Remembers rows. */
const createMemory = () => {
  const known = new Map<string, string>();
  return {
    has: (row: ListRow): boolean => known.has(keyOf(row)),
    /** Whether the row is new or has changed since the last call. */
    note(row: ListRow): boolean {
      const [key, text] = [keyOf(row), JSON.stringify(row)];
      const isChanged = known.get(key) !== text;
      known.delete(key);
      known.set(key, text);
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      return isChanged;
    },
  };
};

const isLost = (error: unknown): error is ExitError =>
  error instanceof ExitError && error.exitCode === EXIT.unreachable;

/**
 * Checks the list again and again until the signal aborts. Each row is reported when it is new and when it
 * changes, as long as it is among the newest ones that the query's limit allows.
 * @throws the error of the first check, and later every error except a lost connection
 */
export async function* watchList(watch: ListWatch): AsyncGenerator<ListCheck> {
  const { query, clock, signal } = watch;
  const memory = createMemory();

  /** The newest rows. Reads on while every row is new, so that a burst of commands is not lost. */
  const newest = async (read: ReadPage, isFirst: boolean): Promise<readonly ListRow[]> => {
    const rows: ListRow[] = [];
    let cursor: string | undefined;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const found = await read({ ...query, ...(cursor !== undefined && { cursor }) });
      rows.push(...found.rows);
      cursor = found.cursor;
      const isBurst = found.rows.length > 0 && !found.rows.some(memory.has);
      if (isFirst || !isBurst || cursor === undefined) break;
    }
    return rows;
  };

  let read: ReadPage | undefined = await watch.open();
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      read ??= await watch.open();
      const rows = await newest(read, isFirst);
      const changed = rows.toReversed().filter(memory.note);
      yield { kind: "rows", rows: rows.slice(0, query.limit), changed };
    } catch (error) {
      if (isFirst || !isLost(error)) throw error;
      read = undefined;
      yield { kind: "lost", why: error.message };
    }
    await clock.sleep(watch.everyMs, signal);
  }
}
