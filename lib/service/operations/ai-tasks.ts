import { listAiTasks } from "../../contract/ai-tasks.ts";
import type { Query } from "../../contract/operation.ts";
import { epochMsOf } from "../../contract/values.ts";
import type { AiTaskNow } from "../ai-task-index.ts";
import { route } from "../routing.ts";
import type { State } from "../state/state.ts";

const DEFAULT_LIMIT = 10;

/** Starts the plans: one without `plan_from` counts from the instant at which the state is first loaded. */
export const startAiTaskPlans = (state: State, at: number): State => ({
  ...state,
  ai_tasks: state.ai_tasks.map((task) => ({
    ...task,
    plan_from: task.plan_from ?? new Date(at).toISOString(),
  })),
});

/** Omits `started_at` before the start, because the published field is never null. */
const processingTime = ({ started_at, completed_at }: AiTaskNow) => ({
  ...(started_at !== null && { started_at }),
  completed_at,
  total_time_sec:
    started_at === null || completed_at === null
      ? null
      : (epochMsOf(completed_at) - epochMsOf(started_at)) / 1000,
});

const show = ({ record, ...now }: AiTaskNow) => ({
  task_id: record.task_id,
  status: now.status,
  progress: now.progress,
  task_name: record.task_name,
  task_data: record.task_data,
  processing_time: processingTime({ record, ...now }),
});

type ListQuery = Query<typeof listAiTasks>;

/** A day matches every instant of that day in UTC; a time without fractions matches its whole second. */
const matchesDate = (created: string, wanted: string): boolean => {
  const createdAt = epochMsOf(created);
  const isDay = !wanted.includes("T");
  if (isDay) return new Date(createdAt).toISOString().startsWith(wanted);
  const precisionMs = wanted.includes(".") ? 1 : 1000;
  return Math.floor(createdAt / precisionMs) === Math.floor(epochMsOf(wanted) / precisionMs);
};

const textsIn = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.values(value).flatMap(textsIn)
    : [String(value)];

/** Reports whether every word of the search occurs in one of the four fields, in any letter case. */
const matchesSearch = (task: AiTaskNow, search: string): boolean => {
  const { task_id, task_name, task_data } = task.record;
  const fields = [task_id, task_name, task.status, ...textsIn(task_data)];
  const text = fields.join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

/** The filters that need each task. A list with one of them reads all tasks of the client. */
const matcherOf = ({ date_created, search }: ListQuery) => {
  if (date_created === undefined && search === undefined) return undefined;
  return (task: AiTaskNow): boolean =>
    (date_created === undefined || matchesDate(task.record.date_created, date_created)) &&
    (search === undefined || matchesSearch(task, search));
};

/** The query string of another page of the same list. */
const pageLink = (query: ListQuery, page: number): string => {
  const link = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, page })) {
    if (value !== undefined) link.set(name, String(value));
  }
  return link.toString();
};

export const listAiTasksRoute = route(listAiTasks, ({ query, records, caller, at }) => {
  const { page = 1, limit = DEFAULT_LIMIT } = query;
  const from = (page - 1) * limit;
  const { count, tasks } = records.aiTasks.list(
    {
      id: query.task_id,
      isWanted: ({ client_id, task_name, status }) =>
        client_id === caller.client_id &&
        (query.task_name ?? task_name) === task_name &&
        (query.status ?? status) === status,
      matches: matcherOf(query),
      // Without an order the latest start comes first.
      order: query.ordering ?? "latest",
      offset: from,
      limit,
    },
    at,
  );
  return {
    count,
    next: from + limit < count ? pageLink(query, page + 1) : null,
    previous: page > 1 ? pageLink(query, page - 1) : null,
    results: tasks.map(show),
  };
});
