import * as z from "zod";
import { listAiTasks } from "../../contract/ai-tasks.ts";
import type { Query, Reply } from "../../contract/operation.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { type AiTaskRun, publishListAccepted, requireLease } from "./ai-watch.ts";

/** An AI task as the provider shows it. */
export type ShownAiTask = NonNullable<Reply<typeof listAiTasks>["results"][number]>;

/** Statuses of ended tasks. Any other status, an unknown one too, counts as running. */
const ENDS = ["FAILURE", "REVOKED", "SUCCESS"] as const;
export type EndedAiTask = ShownAiTask & { readonly status: (typeof ENDS)[number] };

/** Data of `AiTaskEnded`. */
export interface AiTaskEnd {
  readonly taskId: string;
  readonly status: EndedAiTask["status"];
  readonly taskName?: string;
  readonly progress?: number;
  readonly taskData?: JsonObject;
}

/** Maximum size of a task name. One ledger item holds many; the known ones have at most 18 characters. */
const MAX_NAME_BYTES = 64;
/** Maximum length of `task_data` as JSON. Keeps the event far below the bus's limit, with any characters. */
const MAX_DATA_CHARACTERS = 64_000;
/** Maximum nesting of `task_data`: deeper than any subscriber needs, and than some can parse. */
const MAX_LEVELS = 100;

export const hasEnded = (task: ShownAiTask): task is EndedAiTask =>
  ENDS.some((end) => end === task.status);

/** Method of a task. Newer servers name it in `task_data` only. Undefined unless it is a short text. */
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

/** `task_data` as events carry it, whole numbers beyond 2^53 as text; undefined if too large or too deep. */
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

/** Tasks that one request asks for; the provider may return fewer. */
const PAGE_SIZE = 100;

type ListReply = Reply<typeof listAiTasks>;

interface AiTaskPage {
  readonly page: number;
  /** Tasks that no earlier page has shown. */
  readonly tasks: readonly ShownAiTask[];
}

const isNotFound = (error: unknown): boolean =>
  error instanceof ProviderError && error.code === "not-found";

/** Thrown when the provider refuses the list to this key; usually the account has no streaming product. */
export class ListRefusedError extends Error {
  override readonly name = "ListRefusedError";
  readonly status: number;

  constructor(status: number, refusal: ProviderError) {
    super(refusal.message, { cause: refusal });
    this.status = status;
  }
}

const ask = ({ client }: AiTaskRun, query: Query<typeof listAiTasks>): Promise<ListReply> =>
  client.call(listAiTasks, { params: {}, query, body: undefined });

/** Reads one page; undefined behind the end of the list, where some servers answer 404. */
const askForPage = async (run: AiTaskRun, page: number): Promise<ListReply | undefined> => {
  const wanted = { task_name: run.taskName, page, limit: PAGE_SIZE };
  try {
    return await ask(run, z.parse(listAiTasks.query, wanted));
  } catch (error) {
    if (page > 1 && isNotFound(error)) return undefined;
    throw error;
  }
};

/** Reads the first page of a run. Only its refusal counts for the list as a whole. */
const askForFirstPage = async (run: AiTaskRun, page: number): Promise<ListReply | undefined> => {
  try {
    const reply = await askForPage(run, page);
    await publishListAccepted(run);
    return reply;
  } catch (error) {
    const status = error instanceof ProviderError ? error.status : undefined;
    throw error instanceof ProviderError && (status === 403 || status === 404)
      ? new ListRefusedError(status, error)
      : error;
  }
};

/** Tasks of a page that are not in `seen`, which they join. A page repeats tasks that new ones pushed down. */
const notYetSeen = (run: AiTaskRun, { results }: ListReply, seen: Set<string>): ShownAiTask[] =>
  results.flatMap((task) => {
    if (!task) run.warnOnce("AI tasks without a usable id or status are left out");
    if (!task || seen.has(task.task_id)) return [];
    seen.add(task.task_id);
    return task;
  });

/** Whether a page is the last one. Some servers never name a next page, and some deny one that exists. */
const isLast = ({ next, count }: ListReply, seen: number): boolean =>
  next !== undefined && !next && seen >= count;

/**
 * The account's tasks page by page, the latest started first. The list ends where the provider says so, or
 * at a page without unseen tasks.
 * @throws ListRefusedError when the provider refuses the first page with 403 or 404
 * @throws ProviderError when a page cannot be read, or time runs out
 * @throws Error when the lease is lost
 */
export async function* aiTaskPages(run: AiTaskRun, from: number): AsyncGenerator<AiTaskPage> {
  const seen = new Set<string>();
  for (let page = from; ; page += 1) {
    const reply = await (page === from ? askForFirstPage : askForPage)(run, page);
    await requireLease(run);
    const tasks = reply ? notYetSeen(run, reply, seen) : [];
    if (tasks.length > 0) yield { page, tasks };
    if (!reply || tasks.length === 0 || isLast(reply, seen.size)) return;
  }
}

/**
 * Asks for one task.
 * @returns undefined when the provider does not know it
 * @throws ProviderError when the provider could not be asked
 * @throws Error when the provider returns other tasks only
 */
export const askForTask = async (
  run: AiTaskRun,
  taskId: string,
): Promise<ShownAiTask | undefined> => {
  try {
    const { results } = await ask(run, { task_id: taskId });
    const found = results.find((task) => task?.task_id === taskId);
    if (found || results.length === 0) return found;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  throw new Error("the provider answered a request for one AI task with other tasks only");
};
