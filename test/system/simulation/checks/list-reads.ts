/** Which of an account's lists a request asks for. */
type ListKind = "open" | "ended";

/** The newest read of a list by one machine, page by page. */
export interface ListRead {
  readonly kind: ListKind;
  /** When its first page was requested, epoch ms. */
  readonly beganAt: number;
  readonly offset: number;
  /**
   * Of the last page: requested, shown whole, or refused. After a refusal, or a reply without a list, the
   * tasks are read one by one; after any other failure the account is left alone.
   */
  readonly last: "asked" | "shown" | "refused";
  /** Number of tasks on the whole list by the last page, and on that page. */
  readonly count: number;
  readonly size: number;
  /** The tasks that ran according to the lists at the time of the first page, and of the last. */
  readonly openAtFirst: (() => ReadonlyMap<string, number>) | undefined;
  readonly openAtLast: (() => ReadonlyMap<string, number>) | undefined;
}

interface Page {
  readonly status: number;
  /** Absent when the machine received something else than the provider's list. */
  readonly page: { readonly count: number; readonly results: readonly unknown[] } | undefined;
  readonly open: (() => ReadonlyMap<string, number>) | undefined;
}

const offsetIn = (url: URL): number => Number(url.searchParams.get("offset") ?? 0);

const kindOf = ({ searchParams }: URL): ListKind =>
  searchParams.getAll("state").includes("ERROR") ? "ended" : "open";

/** Whether the list has tasks behind the last page, by its count. */
export const hasMore = ({ last, offset, size, count }: ListRead): boolean =>
  last === "shown" && size > 0 && count > offset + size;

/** Whether a page is requested without need, or leaves out tasks behind the page before. */
export const problemOfPage = (list: ListRead | undefined, url: URL): string | undefined => {
  const offset = offsetIn(url);
  if (offset === 0 || (list?.last === "asked" && offset === list.offset)) return undefined;
  if (!list || !hasMore(list)) return `requested a page from ${offset} after the last page`;
  return offset > list.offset + list.size
    ? `requested a page from ${offset} after the page from ${list.offset}`
    : undefined;
};

export const listAsked = (list: ListRead | undefined, url: URL, now: number): ListRead => {
  const offset = offsetIn(url);
  if (offset > 0 && list) return { ...list, offset, last: "asked" };
  return {
    ...{ kind: kindOf(url), beganAt: now, offset, last: "asked" as const, count: 0, size: 0 },
    ...{ openAtFirst: undefined, openAtLast: undefined },
  };
};

export const listShown = (list: ListRead, { status, page, open }: Page): ListRead => {
  // A 504 is a page of HTML here, which counts as a reply without a list.
  const isRefused = status < 400 || status === 403 || status === 504;
  if (!page) return isRefused ? { ...list, last: "refused" } : list;
  return {
    ...list,
    last: "shown",
    count: page.count,
    size: page.results.length,
    openAtFirst: list.openAtFirst ?? open,
    openAtLast: open,
  };
};

/** Whether a task ended between the first page and the last. */
const hasShifted = ({ openAtFirst, openAtLast }: ListRead): boolean => {
  const last = openAtLast?.();
  return [...(openAtFirst?.().keys() ?? [])].some((id) => !last?.has(id));
};

const SHIFTS = "list that shifts";

/** Coverage of a list that was read so far, beside what is covered already. */
export const metInList = (list: ListRead, met: ReadonlySet<string>): readonly string[] => {
  const isShown = list.last === "shown";
  const hasPages = isShown && list.offset > 0;
  // To compare all tasks of two pages takes long, and once is enough.
  const mayShift = hasPages && list.kind === "open" && !met.has(SHIFTS);
  const prefix = list.kind === "ended" ? "ended: " : "";
  return [
    ...(isShown ? [`${prefix}list of tasks`] : []),
    ...(hasPages ? [`${prefix}list with a second page`] : []),
    ...(mayShift && hasShifted(list) ? [SHIFTS] : []),
    ...(list.last === "refused" ? ["list refused or unreadable"] : []),
  ];
};

/** Coverage of a read of one task after the list. */
export const metAfterList = (list: ListRead): readonly string[] =>
  hasMore(list) ? ["list with more pages than are read"] : [];
