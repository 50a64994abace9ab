import { OPERATIONS } from "../contract/operations.ts";
import { epochMsOf } from "../contract/values.ts";
import { taskAt } from "./ai-task-index.ts";
import type { Snapshot } from "./service.ts";
import { COLLECTIONS, type CollectionName } from "./state/state.ts";
import type { TaskRecord } from "./state/tasks.ts";

/** Names of fields with secrets, from the contract. */
const SECRET_FIELDS = new Set(
  OPERATIONS.flatMap((operation) => ("secrets" in operation ? (operation.secrets ?? []) : [])).map(
    (field) => field.slice(field.lastIndexOf(".") + 1),
  ),
);

const REDACTED = "[redacted]";

/** Replaces a secret value; the names of variables stay, as in a reply of the automation. */
const redacted = (value: unknown): unknown => {
  if (value === null || value === undefined) return value;
  return typeof value === "object"
    ? Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]))
    : REDACTED;
};

/** A value as JSON without secrets; integers that JSON would round become decimal text. */
const shown = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(shown);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRET_FIELDS.has(name) ? redacted(inner) : shown(inner),
    ]),
  );
};

/** The records of a kind as of now, without plans and without the digest of a key. */
const recordsOf = (kind: CollectionName, { records, at }: Snapshot): readonly object[] => {
  switch (kind) {
    case "keys":
      return records.list("keys").map(({ sha256: _, ...key }) => key);
    case "tasks":
      return records.list("tasks").map(({ plan: _, ...task }) => task);
    case "ai_tasks":
      return records.list("ai_tasks").map((stored) => {
        const { record, ...now } = taskAt(stored, at);
        const { plan: _, plan_from: __, ...task } = record;
        return { ...task, ...now };
      });
    default:
      return records.list(kind);
  }
};

/** The number of records of each kind. */
export const countRecords = ({
  records,
}: Snapshot): readonly { readonly kind: string; readonly count: number }[] =>
  COLLECTIONS.map((kind) => ({ kind, count: records.count(kind) }));

/**
 * Records of a kind in the order of their keys, as JSON without secrets.
 * @returns undefined for an unknown kind
 */
export const listRecords = (
  snapshot: Snapshot,
  name: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
) => {
  const kind = COLLECTIONS.find((each) => each === name);
  if (kind === undefined) return undefined;
  const all = recordsOf(kind, snapshot);
  return { kind, count: all.length, rows: all.slice(offset, offset + limit).map(shown) };
};

/** Share of a task's duration that has passed, percent; undefined for a task that never ends. */
const progressOf = ({ created_on, plan, finished_on }: TaskRecord, at: number) => {
  if (finished_on !== null) return 100;
  if (plan === null) return undefined;
  const from = epochMsOf(created_on);
  const share = (at - from) / Math.max(1, plan.endsAtMs - from);
  return Math.round(100 * Math.min(1, Math.max(0, share)));
};

/**
 * The newest tasks, the newest first.
 * @param limit largest number of tasks
 */
export const listTasks = ({ records, at }: Snapshot, limit: number) => {
  const newest = { isWanted: () => true, isNewestFirst: true, offset: 0, limit };
  const { count, tasks: found } = records.tasks.list(newest);
  const tasks = found.map((task) => {
    const { id, task_type: type, state, created_on: createdAt, finished_on, error, plan } = task;
    const progress = progressOf(task, at);
    return {
      ...{ id, type, state, createdAt },
      project: task.project_id,
      region: task.region_id,
      ...(progress !== undefined && { progress }),
      ...(plan && { endsAt: new Date(plan.endsAtMs).toISOString() }),
      ...(finished_on !== null && { finishedAt: finished_on }),
      ...(error !== null && { error }),
      ...(task.created_resources && { createdResources: task.created_resources }),
    };
  });
  return { count, tasks };
};
