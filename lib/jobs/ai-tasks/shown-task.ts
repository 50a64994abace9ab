import type { listAiTasks } from "../../contract/ai-tasks.ts";
import type { Reply } from "../../contract/operation.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";

/** An AI task as the provider shows it. */
export type ShownAiTask = NonNullable<Reply<typeof listAiTasks>["results"][number]>;

/** Everything else, a word that we do not know too, is still at work. */
const ENDS = ["FAILURE", "REVOKED", "SUCCESS"] as const;
export type EndedAiTask = ShownAiTask & { readonly status: (typeof ENDS)[number] };

/** What an event says of a task that has ended. */
export interface AiTaskEnd {
  readonly taskId: string;
  readonly status: EndedAiTask["status"];
  readonly taskName?: string;
  readonly progress?: number;
  readonly taskData?: JsonObject;
}

/** Many names stand in one ledger item; the known ones have 18 characters at most. */
const MAX_NAME_BYTES = 64;
/** Keeps the event far below the bus's limit, whatever characters the text is made of. */
const MAX_DATA_CHARACTERS = 64_000;
/** Deeper than any reader of events needs, and than some can read. */
const MAX_LEVELS = 100;

export const hasEnded = (task: ShownAiTask): task is EndedAiTask =>
  ENDS.some((end) => end === task.status);

/** Newer servers name the method in `task_data` only. A name that is none is left out. */
export const taskNameOf = ({ task_name, task_data }: ShownAiTask): string | undefined => {
  const name = task_name ?? task_data?.task_name;
  const isName =
    typeof name === "string" && Buffer.byteLength(JSON.stringify(name)) <= MAX_NAME_BYTES + 2;
  return isName ? name : undefined;
};

const isNestedWithin = (levels: number, value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isNestedWithin(levels - 1, inner)));

/** `task_data` as events carry it, whole numbers beyond 2^53 as text; undefined if too large. */
const taskDataOf = ({ task_data = {} }: ShownAiTask): JsonObject | undefined => {
  if (!isNestedWithin(MAX_LEVELS, task_data)) return undefined;
  const text = JSON.stringify(task_data, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return text.length > MAX_DATA_CHARACTERS ? undefined : JSON.parse(text);
};

export const endOf = (task: EndedAiTask): AiTaskEnd => {
  const { task_id: taskId, status, progress } = task;
  const taskName = taskNameOf(task);
  const taskData = taskDataOf(task);
  return {
    taskId,
    status,
    ...(taskName !== undefined && { taskName }),
    ...(typeof progress === "number" && { progress }),
    ...(taskData !== undefined && { taskData }),
  };
};
