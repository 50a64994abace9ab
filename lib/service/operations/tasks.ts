import type { Query } from "../../contract/operation.ts";
import { getTask, listTasks } from "../../contract/tasks.ts";
import { epochMsOf } from "../../contract/values.ts";
import { notFound } from "../errors.ts";
import { route } from "../routing.ts";
import type { KeyRecord } from "../state/keys.ts";
import type { TaskRecord } from "../state/tasks.ts";
import type { TaskGroup } from "../task-index.ts";

/** The provider's published default. The contract has the maximum. */
const DEFAULT_LIMIT = 10;

const isVisible = (
  task: Pick<TaskRecord, "client_id" | "project_id">,
  caller: KeyRecord,
): boolean => task.client_id === caller.client_id && caller.project_ids.includes(task.project_id);

const show = ({ plan, ...shown }: TaskRecord) => shown;

export const getTaskRoute = route(getTask, ({ params, records, caller }) => {
  const task = records.get("tasks", params.task_id);
  if (task === undefined || !isVisible(task, caller)) throw notFound("task");
  return show(task);
});

const isAmong = <T>(accepted: readonly T[] | undefined, value: T): boolean =>
  accepted === undefined || accepted.includes(value);

/** The groups of the caller's tasks that a query asks for. */
const groupsOf =
  (query: Query<typeof listTasks>, caller: KeyRecord) =>
  (group: TaskGroup): boolean =>
    isVisible(group, caller) &&
    isAmong(query.state, group.state) &&
    isAmong(query.project_id, group.project_id) &&
    isAmong(query.region_id, group.region_id) &&
    (query.task_type ?? group.task_type) === group.task_type &&
    (query.is_acknowledged ?? group.isAcknowledged) === group.isAcknowledged;

const instantOf = (timestamp: string | undefined): number | undefined =>
  timestamp === undefined ? undefined : epochMsOf(timestamp);

export const listTasksRoute = route(listTasks, ({ query, records, caller }) => {
  const { count, tasks } = records.tasks.list({
    isWanted: groupsOf(query, caller),
    from: instantOf(query.from_timestamp),
    to: instantOf(query.to_timestamp),
    isNewestFirst: (query.order_by ?? query.sorting) !== "asc",
    offset: query.offset ?? 0,
    limit: query.limit ?? DEFAULT_LIMIT,
  });
  return { count, results: tasks.map(show) };
});
