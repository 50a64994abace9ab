import type { Query } from "../../contract/operation.ts";
import { getTask, listTasks } from "../../contract/tasks.ts";
import { epochMsOf } from "../../contract/values.ts";
import { notFound } from "../errors.ts";
import { route } from "../routing.ts";
import type { KeyRecord } from "../state/keys.ts";
import type { TaskRecord } from "../state/tasks.ts";

/** The provider's published default. The contract has the maximum. */
const DEFAULT_LIMIT = 10;

const isVisible = (task: TaskRecord, caller: KeyRecord): boolean =>
  task.client_id === caller.client_id && caller.project_ids.includes(task.project_id);

const show = ({ plan, ...shown }: TaskRecord) => shown;

export const getTaskRoute = route(getTask, ({ params, records, caller }) => {
  const task = records.get("tasks", params.task_id);
  if (task === undefined || !isVisible(task, caller)) throw notFound("task");
  return show(task);
});

const isAmong = <T>(accepted: readonly T[] | undefined, value: T): boolean =>
  accepted === undefined || accepted.includes(value);

const isAcknowledged = ({ acknowledged_at }: TaskRecord): boolean => acknowledged_at !== null;

const matches = (task: TaskRecord, query: Query<typeof listTasks>): boolean => {
  const createdAt = epochMsOf(task.created_on);
  return (
    isAmong(query.state, task.state) &&
    isAmong(query.project_id, task.project_id) &&
    isAmong(query.region_id, task.region_id) &&
    (query.task_type ?? task.task_type) === task.task_type &&
    (query.is_acknowledged ?? isAcknowledged(task)) === isAcknowledged(task) &&
    createdAt >= epochMsOf(query.from_timestamp ?? task.created_on) &&
    createdAt <= epochMsOf(query.to_timestamp ?? task.created_on)
  );
};

/** Order of creation. Ids grow with time, so they keep pages stable within one millisecond. */
const byCreation = (a: TaskRecord, b: TaskRecord): number =>
  epochMsOf(a.created_on) - epochMsOf(b.created_on) || (a.id < b.id ? -1 : 1);

export const listTasksRoute = route(listTasks, ({ query, records, caller }) => {
  const found = records
    .list("tasks")
    .filter((task) => isVisible(task, caller) && matches(task, query))
    .toSorted(byCreation);
  const isAscending = (query.order_by ?? query.sorting) === "asc";
  const ordered = isAscending ? found : found.toReversed();
  const from = query.offset ?? 0;
  return {
    count: found.length,
    results: ordered.slice(from, from + (query.limit ?? DEFAULT_LIMIT)).map(show),
  };
});
