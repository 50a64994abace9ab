/** The newest read of an account's list of running tasks by one machine, page by page. */
export interface ListRead {
  /** When its first page was requested, as a number of events so far. */
  readonly beganAt: number;
  readonly offset: number;
  readonly limit: number;
  /**
   * Of the last page: requested, shown whole, or refused. After a refusal, or a reply without a list, the
   * tasks are read one by one; after any other failure the account is left alone.
   */
  readonly last: "asked" | "shown" | "refused";
  /** Number of tasks on the last page. */
  readonly size: number;
  readonly shown: ReadonlySet<string>;
  /**
   * The tasks that ran according to the lists at the time of the first page, and of the last, with their
   * creation (epoch ms).
   */
  readonly openAtFirst: (() => ReadonlyMap<string, number>) | undefined;
  readonly openAtLast: (() => ReadonlyMap<string, number>) | undefined;
  /** Tasks that no page showed although they ran from the first to the last page, and were read. */
  readonly missed: Set<string>;
}

interface Page {
  readonly status: number;
  /** Absent when the machine received something else than the provider's list. */
  readonly page: readonly { readonly id: string }[] | undefined;
  readonly open: (() => ReadonlyMap<string, number>) | undefined;
}

/** Beyond ten pages of a thousand the engine reads tasks one by one. */
const MAX_OFFSET = 9_000;

const numberIn = (url: URL, name: string): number => Number(url.searchParams.get(name) ?? 0);

const isFull = ({ size, limit, last }: ListRead): boolean => last === "shown" && size >= limit;

/** Whether a page is requested without need, or leaves out tasks behind the page before. */
export const problemOfPage = (list: ListRead | undefined, url: URL): string | undefined => {
  const offset = numberIn(url, "offset");
  if (offset === 0 || (list?.last === "asked" && offset === list.offset)) return undefined;
  if (!list || !isFull(list))
    return `requested a page from ${offset} after a page that was not full`;
  const isNext = offset > list.offset && offset <= list.offset + list.size;
  return isNext ? undefined : `requested a page from ${offset} after the page from ${list.offset}`;
};

export const listAsked = (list: ListRead | undefined, url: URL, now: number): ListRead => {
  const offset = numberIn(url, "offset");
  if (offset > 0 && list) return { ...list, offset, last: "asked" };
  return {
    beganAt: now,
    offset,
    limit: numberIn(url, "limit"),
    last: "asked",
    size: 0,
    shown: new Set(),
    openAtFirst: undefined,
    openAtLast: undefined,
    missed: new Set(),
  };
};

export const listShown = (list: ListRead, { status, page, open }: Page): ListRead => {
  if (!page) return status < 400 || status === 403 ? { ...list, last: "refused" } : list;
  return {
    ...list,
    last: "shown",
    size: page.length,
    shown: new Set([...list.shown, ...page.map(({ id }) => id)]),
    openAtFirst: list.openAtFirst ?? open,
    openAtLast: open,
  };
};

/** Number of tasks that ended between the first page and the last. */
const movedIn = ({ openAtFirst, openAtLast }: ListRead): number => {
  const last = openAtLast?.();
  return [...(openAtFirst?.().keys() ?? [])].filter((id) => !last?.has(id)).length;
};

/** Coverage of a list, and of a task that is read by itself after it. */
export const metInList = (list: ListRead): readonly string[] => [
  ...(list.last === "shown" ? ["list of tasks"] : []),
  ...(list.last === "shown" && list.offset > 0 ? ["list with a second page"] : []),
  ...(list.last === "shown" && list.offset > 0 && movedIn(list) > 0 ? ["list that shifts"] : []),
  ...(list.last === "refused" ? ["list refused or unreadable"] : []),
  ...(isFull(list) && list.offset >= MAX_OFFSET ? ["list with more pages than are read"] : []),
];

/**
 * Why a task need not be read by itself after this list. A task that ends between two pages moves those
 * behind it forward, and one of them may be on no page: so many reads of running tasks are no waste.
 * @param since the list need not show an older task, epoch ms
 */
export const problemOfRead = (list: ListRead, id: string, since: number): string | undefined => {
  if (list.last === "asked") return "although the list got no answer";
  if (list.last === "refused") return undefined;
  if (list.shown.has(id)) return "although the list shows it";
  if (isFull(list) && list.offset >= MAX_OFFSET) return undefined;
  const [first, last] = [list.openAtFirst?.(), list.openAtLast?.()];
  if (!first?.has(id) || (last?.get(id) ?? 0) < since) return undefined;
  list.missed.add(id);
  return list.missed.size > movedIn(list)
    ? "although a page of the list would have shown it"
    : undefined;
};
