import { epochMsOf } from "../contract/values.ts";
import { createSortedList, type SortedList } from "./sorted-list.ts";
import type { TaskRecord } from "./state/tasks.ts";

/** The instant at which a task changes its state next, epoch ms; undefined for one that never does. */
const nextInstantOf = ({ state, plan }: TaskRecord): number | undefined =>
  state === "NEW" ? plan?.startsAtMs : plan?.endsAtMs;

/** What all tasks of a group have in common: everything that a list can filter by, except for times. */
export interface TaskGroup
  extends Pick<TaskRecord, "client_id" | "project_id" | "region_id" | "state" | "task_type"> {
  readonly isAcknowledged: boolean;
}

/** A part of the tasks in the order of their creation. */
interface TaskQuery {
  /** Decides about all tasks of a group at once. */
  readonly isWanted: (group: TaskGroup) => boolean;
  /** First and last instant of creation, epoch ms. Default: all. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly isNewestFirst: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** A page of the tasks that a query wants, and the number of all of them. */
interface TaskPage {
  readonly count: number;
  readonly tasks: readonly TaskRecord[];
}

export interface TaskView {
  /** Instant of the next state change of any task, epoch ms; Infinity when all have ended. */
  nextDueAt(): number;
  /** The task that changes its state next. Of several at one instant the one with the lowest id, which is the oldest. */
  nextDue(): TaskRecord | undefined;
  /** A page. Costs its end position and the number of groups, not the number of tasks. */
  list(query: TaskQuery): TaskPage;
  /** The tasks that ended first, as many as there are more than `kept`, but at most `limit`. */
  endedBeyond(kept: number, limit: number): readonly TaskRecord[];
}

export interface TaskIndex extends TaskView {
  /** Updates the index. Must be called for every task that is written. */
  note(task: TaskRecord): void;
  /** Removes a task from the index. Must be called for every task that is removed. */
  forget(id: string): void;
}

/** A task at an instant, the order of a list. Ids grow with time, so they keep the order within one millisecond. */
interface Entry {
  readonly at: number;
  readonly task: TaskRecord;
}

const compare = (a: Entry, b: Entry): number => {
  if (a.at !== b.at) return a.at - b.at;
  if (a.task.id === b.task.id) return 0;
  return a.task.id < b.task.id ? -1 : 1;
};

/** Where a task is listed: its group by creation, and one of the two others, unless it never ends. */
interface Listing {
  readonly group: SortedList<Entry>;
  readonly created: Entry;
  readonly other: { readonly list: SortedList<Entry>; readonly entry: Entry } | undefined;
}

/** The index of all tasks: by next change, by end, and by creation in groups. Without it each request would read all. */
export const createTaskIndex = (tasks: Iterable<TaskRecord>): TaskIndex => {
  const due = createSortedList(compare);
  const ended = createSortedList(compare);
  const groups = new Map<string, { readonly group: TaskGroup; readonly list: SortedList<Entry> }>();
  const listings = new Map<string, Listing>();

  const groupOf = (task: TaskRecord): SortedList<Entry> => {
    const { client_id, project_id, region_id, state, task_type, acknowledged_at } = task;
    const isAcknowledged = acknowledged_at !== null;
    const group = { client_id, project_id, region_id, state, task_type, isAcknowledged };
    const key = JSON.stringify(Object.values(group));
    const known = groups.get(key) ?? { group, list: createSortedList(compare) };
    groups.set(key, known);
    return known.list;
  };

  const otherOf = (task: TaskRecord): Listing["other"] => {
    const next = nextInstantOf(task);
    if (next !== undefined) return { list: due, entry: { at: next, task } };
    if (task.state === "NEW" || task.state === "RUNNING") return undefined;
    const finishedAt = epochMsOf(task.finished_on ?? "");
    // The end of a task in a seed may be any text.
    const at = Number.isNaN(finishedAt) ? epochMsOf(task.created_on) : finishedAt;
    return { list: ended, entry: { at, task } };
  };

  const forget = (id: string): void => {
    const listing = listings.get(id);
    if (!listing) return;
    listing.group.delete(listing.created);
    listing.other?.list.delete(listing.other.entry);
    listings.delete(id);
  };

  const note = (task: TaskRecord): void => {
    forget(task.id);
    const created = { at: epochMsOf(task.created_on), task };
    const listing = { group: groupOf(task), created, other: otherOf(task) };
    listing.group.add(created);
    listing.other?.list.add(listing.other.entry);
    listings.set(task.id, listing);
  };

  for (const task of tasks) note(task);

  /** Positions of the first and after the last wanted task of a group. */
  const rangeIn = (list: SortedList<Entry>, { from, to }: TaskQuery) => ({
    list,
    start: from === undefined ? 0 : list.countBefore(({ at }) => at < from),
    end: to === undefined ? list.size() : list.countBefore(({ at }) => at <= to),
  });

  return {
    note,
    forget,
    nextDueAt: () => due.first()?.at ?? Number.POSITIVE_INFINITY,
    nextDue: () => due.first()?.task,
    endedBeyond: (kept, limit) =>
      ended.slice(0, Math.min(limit, ended.size() - kept)).map(({ task }) => task),
    list(query) {
      const { isWanted, isNewestFirst, offset, limit } = query;
      const ranges = [...groups.values()]
        .filter(({ group }) => isWanted(group))
        .map(({ list }) => rangeIn(list, query))
        .filter(({ start, end }) => start < end);
      const reached = offset + limit;
      const entries = ranges.flatMap(({ list, start, end }) =>
        isNewestFirst
          ? list.slice(Math.max(start, end - reached), end).reverse()
          : list.slice(start, Math.min(end, start + reached)),
      );
      // The sort merges the groups, each of which is in order already.
      if (ranges.length > 1) entries.sort(isNewestFirst ? (a, b) => compare(b, a) : compare);
      return {
        count: ranges.reduce((sum, { start, end }) => sum + end - start, 0),
        tasks: entries.slice(offset, reached).map(({ task }) => task),
      };
    },
  };
};
