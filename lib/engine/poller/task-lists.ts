import type * as z from "zod";
import { listTasks, type TASK_STATES, type taskSchema } from "../../contract/tasks.ts";
import { epochMsOf } from "../../contract/values.ts";
import type { Account } from "../../provider/accounts.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import type { OpenTask } from "./open-tasks.ts";

export type TaskRecord = z.output<ReturnType<typeof taskSchema>>;

const PAGE_SIZE = 1000;
/** How far the provider's clock may be from ours without hiding our tasks from a list. */
const CLOCK_SKEW_MS = 60_000;
/** A task of another client began before it was recorded here. An older one is read by itself. */
const BEGAN_BEFORE_MS = 24 * 60 * 60 * 1000;
/** The time of creation in a record may be cut to seconds. */
const PRECISION_MS = 1_000;

/** Tasks of one list that were asked for. */
export interface Listed {
  /** Records by task id. */
  readonly found: ReadonlyMap<string, TaskRecord>;
  /** Whether the list was read to its end, so that what was not found is not on it. */
  readonly isComplete: boolean;
  /** Pages of the whole list by the provider's count, at least 1. */
  readonly pages: number;
  /** Why the list was not read on. */
  readonly error?: ProviderError;
}

/** Filters by state and by time of creation. */
interface ListQuery {
  readonly state: (typeof TASK_STATES)[number][];
  readonly from_timestamp: string;
  readonly to_timestamp?: string;
}

interface ListRequest {
  readonly account: Account;
  /** Ids of the wanted tasks. */
  readonly ids: ReadonlySet<string>;
  readonly filter: ListQuery;
  readonly signal: AbortSignal;
}

const readPage = ({ account, filter, signal }: ListRequest, page: number) => {
  const query = {
    ...filter,
    order_by: "asc" as const,
    limit: PAGE_SIZE,
    offset: page * PAGE_SIZE,
  };
  return account.client.call(listTasks, { params: {}, query, body: undefined }, signal);
};

/**
 * Reads a list until every task is found, while that costs no more requests than reading the missing tasks one
 * by one: the number of pages is known from the first one.
 */
const readList = async (request: ListRequest): Promise<Listed> => {
  const { ids } = request;
  const found = new Map<string, TaskRecord>();
  let read = 0;
  let pages = 1;
  const isWorthIt = (): boolean =>
    read === 0 || (read < ids.size && pages - read <= ids.size - found.size);
  try {
    while (read < pages && isWorthIt()) {
      const { count, results } = await readPage(request, read);
      read += 1;
      for (const task of results) if (ids.has(task.id)) found.set(task.id, task);
      // An empty page is the last one, whatever the count says.
      pages = results.length === 0 ? read : Math.max(read, Math.ceil(count / PAGE_SIZE));
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { found, isComplete: false, pages, error };
  }
  return { found, isComplete: read === pages || found.size === ids.size, pages };
};

/** Between which instants the task began by the provider's clock, epoch ms. */
const creationOf = ({
  recordedAt,
  isBeside,
  createdAt,
}: OpenTask): readonly [from: number, to: number] =>
  createdAt === undefined
    ? [recordedAt - (isBeside ? BEGAN_BEFORE_MS : CLOCK_SKEW_MS), recordedAt + CLOCK_SKEW_MS]
    : [createdAt - PRECISION_MS, createdAt + PRECISION_MS];

const timestampOf = (at: number): string => new Date(at).toISOString();
const idsOf = (tasks: readonly OpenTask[]): ReadonlySet<string> =>
  new Set(tasks.map(({ id }) => id));

/** Lists the account's tasks that still run; the list has no filter for ids. */
export const listOpen = (
  account: Account,
  tasks: readonly OpenTask[],
  signal: AbortSignal,
): Promise<Listed> => {
  const since = tasks.reduce((first, task) => Math.min(first, creationOf(task)[0]), Infinity);
  const filter = {
    state: ["NEW", "RUNNING"],
    from_timestamp: timestampOf(since),
  } satisfies ListQuery;
  return readList({ account, ids: idsOf(tasks), filter, signal });
};

/** Tasks that began near each other. */
interface Window {
  readonly tasks: OpenTask[];
  readonly from: number;
  to: number;
}

/**
 * Groups tasks by their time of creation, which is what the provider's filters go by. One window over all
 * would also hold the tasks of other clients that began between an old one and a new one.
 */
const windowsOf = (tasks: readonly OpenTask[]): readonly Window[] => {
  const inOrder = tasks
    // The window of a task of another client that no list has shown would be a day.
    .filter(({ isBeside, createdAt }) => createdAt !== undefined || !isBeside)
    .map((task) => ({ task, span: creationOf(task) }))
    .sort((a, b) => a.span[0] - b.span[0]);
  const windows: Window[] = [];
  for (const { task, span } of inOrder) {
    const [from, to] = span;
    const last = windows.at(-1);
    if (last && from <= last.to + CLOCK_SKEW_MS) {
      last.tasks.push(task);
      last.to = Math.max(last.to, to);
    } else windows.push({ tasks: [task], from, to });
  }
  return windows;
};

/**
 * Finds tasks that have ended, by lists of the tasks that began with them. A task that began alone is left
 * out, because a read of it costs no more.
 */
export const listEnded = async (
  account: Account,
  tasks: readonly OpenTask[],
  signal: AbortSignal,
): Promise<Pick<Listed, "found" | "error">> => {
  const found = new Map<string, TaskRecord>();
  for (const window of windowsOf(tasks)) {
    const ids = idsOf(window.tasks);
    if (ids.size === 1) continue;
    const filter = {
      state: ["FINISHED", "ERROR"],
      from_timestamp: timestampOf(window.from),
      to_timestamp: timestampOf(window.to),
    } satisfies ListQuery;
    const listed = await readList({ account, ids, filter, signal });
    for (const [id, record] of listed.found) found.set(id, record);
    if (listed.error) return { found, error: listed.error };
  }
  return { found };
};

/** Time of creation in a record, epoch ms; undefined when the record has none. */
export const createdAtOf = ({ created_on: text }: TaskRecord): number | undefined => {
  const at = text ? epochMsOf(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
};
