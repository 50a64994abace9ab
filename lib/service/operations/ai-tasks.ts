import { listAiTasks } from "../../contract/ai-tasks.ts";
import type { Query } from "../../contract/operation.ts";
import { epochMsOf } from "../../contract/values.ts";
import { route } from "../routing.ts";
import type { AiTaskRecord } from "../state/ai-tasks.ts";
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

/** State of an AI task at one instant. */
interface AiTaskNow extends Pick<AiTaskRecord, "status" | "progress" | "started_at"> {
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

const matches = (task: AiTaskNow, query: ListQuery): boolean =>
  (query.task_id === undefined || query.task_id === task.record.task_id) &&
  (query.task_name ?? task.record.task_name) === task.record.task_name &&
  (query.status ?? task.status) === task.status &&
  (query.date_created === undefined || matchesDate(task.record.date_created, query.date_created)) &&
  (query.search === undefined || matchesSearch(task, query.search));

const startOf = ({ started_at }: AiTaskNow): number =>
  started_at === null ? Number.POSITIVE_INFINITY : epochMsOf(started_at);

type Ordering = NonNullable<ListQuery["ordering"]>;

const ORDERINGS: Readonly<Record<Ordering, (task: AiTaskNow) => number | string>> = {
  task_id: ({ record }) => record.task_id,
  task_name: ({ record }) => record.task_name,
  status: ({ status }) => status,
  started_at: startOf,
};

/** Sorts tasks ascending by the given field, or by start, latest first. */
const inOrder = (
  tasks: readonly AiTaskNow[],
  ordering: Ordering | undefined,
): readonly AiTaskNow[] => {
  const keyOf = ORDERINGS[ordering ?? "started_at"];
  const direction = ordering === undefined ? -1 : 1;
  return tasks.toSorted((a, b) => {
    if (keyOf(a) === keyOf(b)) return 0;
    return keyOf(a) < keyOf(b) ? -direction : direction;
  });
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
  const found = records
    .list("ai_tasks")
    .filter(({ client_id }) => client_id === caller.client_id)
    .map((record) => taskAt(record, at))
    .filter((task) => matches(task, query));
  const from = (page - 1) * limit;
  return {
    count: found.length,
    next: from + limit < found.length ? pageLink(query, page + 1) : null,
    previous: page > 1 ? pageLink(query, page - 1) : null,
    results: inOrder(found, query.ordering)
      .slice(from, from + limit)
      .map(show),
  };
});
