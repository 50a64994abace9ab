import { epochMsOf } from "../contract/values.ts";
import { createSortedList, type SortedList } from "./sorted-list.ts";
import type { AiTaskRecord } from "./state/ai-tasks.ts";

/** State of an AI task at one instant. */
export interface AiTaskNow extends Pick<AiTaskRecord, "status" | "progress" | "started_at"> {
  readonly completed_at: string | null;
  readonly record: AiTaskRecord;
}

const hasEnded = (status: AiTaskRecord["status"]): boolean =>
  status === "SUCCESS" || status === "FAILURE" || status === "REVOKED";

/** Computes the state of an AI task at an instant (epoch ms) from its plan. Nothing is stored. */
export const taskAt = (record: AiTaskRecord, at: number): AiTaskNow => {
  const from = record.plan_from === null ? at : epochMsOf(record.plan_from);
  const instantOf = (afterSeconds: number) => from + afterSeconds * 1000;
  const past = record.plan.filter(({ after_seconds }) => instantOf(after_seconds) <= at);
  const timeOf = (step: (typeof past)[number] | undefined): string | null =>
    step === undefined ? null : new Date(instantOf(step.after_seconds)).toISOString();
  const { status, progress } = past.at(-1) ?? record;
  return {
    record,
    status,
    progress,
    started_at: record.started_at ?? timeOf(past.find((step) => step.status === "STARTED")),
    completed_at: hasEnded(status)
      ? (timeOf(past.find((step) => hasEnded(step.status))) ?? record.completed_at ?? null)
      : null,
  };
};

/** Instant of the last step of a plan, epoch ms. */
const planEndOf = ({ plan, plan_from }: AiTaskRecord): number => {
  const last = plan.at(-1);
  if (last === undefined) return Number.NEGATIVE_INFINITY;
  if (plan_from === null) return Number.POSITIVE_INFINITY;
  return epochMsOf(plan_from) + last.after_seconds * 1000;
};

type Compare<T> = (a: T, b: T) => number;

const compareKeys = <K extends number | string>(a: K, b: K): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** By a key, equal ones by id. */
const by =
  <K extends number | string>(keyOf: (task: AiTaskNow) => K, direction = 1): Compare<AiTaskNow> =>
  (a, b) =>
    direction * compareKeys(keyOf(a), keyOf(b)) || compareKeys(a.record.task_id, b.record.task_id);

const startOf = ({ started_at }: AiTaskNow): number =>
  started_at === null ? Number.POSITIVE_INFINITY : epochMsOf(started_at);

const ORDERS = {
  latest: by(startOf, -1),
  started_at: by(startOf),
  task_id: by(({ record }) => record.task_id),
  task_name: by(({ record }) => record.task_name),
  status: by(({ status }) => status),
} satisfies Record<string, Compare<AiTaskNow>>;

export type AiTaskOrder = keyof typeof ORDERS;

/** What all tasks of a group have in common. */
interface AiTaskGroup extends Pick<AiTaskRecord, "client_id" | "task_name" | "status"> {}

interface AiTaskQuery {
  /** Id of the only wanted task; absent: any. */
  readonly id?: string | undefined;
  /** Decides about all tasks of a group at once. */
  readonly isWanted: (group: AiTaskGroup) => boolean;
  /** Decides about one task; absent: all of a wanted group. With it, a list reads all tasks of these groups. */
  readonly matches?: ((task: AiTaskNow) => boolean) | undefined;
  readonly order: AiTaskOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface AiTaskView {
  /** A page at an instant. Costs its end position, the number of groups, and the number of plans under way. */
  list(
    query: AiTaskQuery,
    at: number,
  ): { readonly count: number; readonly tasks: readonly AiTaskNow[] };
}

export interface AiTaskIndex extends AiTaskView {
  /** Updates the index. Must be called for every AI task that is written. */
  note(record: AiTaskRecord): void;
  /** Removes a task from the index. Must be called for every AI task that is removed. */
  forget(id: string): void;
}

/** The tasks of a group. Within a group, the order by name or status is that by id. */
interface Listed {
  readonly group: AiTaskGroup;
  readonly orders: Readonly<Record<"latest" | "started_at" | "task_id", SortedList<AiTaskNow>>>;
}

interface Listing {
  readonly record: AiTaskRecord;
  /** Removes the task from where it is listed. */
  readonly remove: () => void;
}

const groupOf = ({ record: { client_id, task_name }, status }: AiTaskNow): AiTaskGroup => ({
  client_id,
  task_name,
  status,
});

const listIn = ({ orders }: Listed, order: AiTaskOrder): SortedList<AiTaskNow> =>
  order === "latest" || order === "started_at" ? orders[order] : orders.task_id;

/** The index of all AI tasks: in groups after the end of their plan, and by that end before. */
export const createAiTaskIndex = (records: Iterable<AiTaskRecord>): AiTaskIndex => {
  const groups = new Map<string, Listed>();
  const underWay = createSortedList<{ readonly endsAt: number; readonly record: AiTaskRecord }>(
    (a, b) => compareKeys(a.endsAt, b.endsAt) || compareKeys(a.record.task_id, b.record.task_id),
  );
  const listings = new Map<string, Listing>();

  const ordersOf = (group: AiTaskGroup): Listed["orders"] => {
    const key = JSON.stringify(Object.values(group));
    const known = groups.get(key) ?? {
      group,
      orders: {
        latest: createSortedList(ORDERS.latest),
        started_at: createSortedList(ORDERS.started_at),
        task_id: createSortedList(ORDERS.task_id),
      },
    };
    groups.set(key, known);
    return known.orders;
  };

  const listInGroup = (task: AiTaskNow): void => {
    const lists = Object.values(ordersOf(groupOf(task)));
    for (const list of lists) list.add(task);
    const remove = (): void => {
      for (const list of lists) list.delete(task);
    };
    listings.set(task.record.task_id, { record: task.record, remove });
  };

  const forget = (id: string): void => {
    listings.get(id)?.remove();
    listings.delete(id);
  };

  const note = (record: AiTaskRecord): void => {
    forget(record.task_id);
    const entry = { endsAt: planEndOf(record), record };
    underWay.add(entry);
    listings.set(record.task_id, { record, remove: () => underWay.delete(entry) });
  };

  /** Moves tasks into their groups at the end of their plan, after which their state no longer changes. */
  const settle = (at: number): void => {
    for (let next = underWay.first(); next && next.endsAt <= at; next = underWay.first()) {
      underWay.delete(next);
      listInGroup(taskAt(next.record, at));
    }
  };

  for (const record of records) note(record);

  return {
    note,
    forget,
    list({ id, isWanted, matches, order, offset, limit }, at) {
      settle(at);
      const reached = offset + limit;
      const stateOf = (tasks: readonly Pick<Listing, "record">[]): readonly AiTaskNow[] =>
        tasks
          .map(({ record }) => taskAt(record, at))
          .filter((task) => isWanted(groupOf(task)) && (matches?.(task) ?? true));
      if (id !== undefined) {
        const listing = listings.get(id);
        const one = stateOf(listing ? [listing] : []);
        return { count: one.length, tasks: one.slice(offset, reached) };
      }
      const lists = [...groups.values()]
        .filter(({ group }) => isWanted(group))
        .map((listed) => listIn(listed, order));
      const found = matches
        ? lists.flatMap((list) => list.slice(0, list.size()).filter(matches))
        : lists.flatMap((list) => list.slice(0, Math.min(reached, list.size())));
      const settled = matches ? found.length : lists.reduce((sum, list) => sum + list.size(), 0);
      const moving = stateOf(underWay.slice(0, underWay.size()));
      return {
        count: settled + moving.length,
        tasks: [...found, ...moving].sort(ORDERS[order]).slice(offset, reached),
      };
    },
  };
};
