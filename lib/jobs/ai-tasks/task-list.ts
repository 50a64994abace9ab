import * as z from "zod";
import { listAiTasks } from "../../contract/ai-tasks.ts";
import type { Query, Reply } from "../../contract/operation.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { type AiTaskRun, publishListAccepted, requireLease } from "./ai-watch.ts";

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

/** One ledger item holds many names; the known ones have 18 characters at most. */
const MAX_NAME_BYTES = 64;
/** Keeps the event far below the bus's limit, whatever characters the text is made of. */
const MAX_DATA_CHARACTERS = 64_000;
/** Deeper than any reader of events needs, and than some can read. */
const MAX_LEVELS = 100;

export const hasEnded = (task: ShownAiTask): task is EndedAiTask =>
  ENDS.some((end) => end === task.status);

/** The method; newer servers name it in `task_data` only. Anything but a short text is left out. */
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

/** As many as one request should bring; the provider may have a lower limit of its own. */
const PAGE_SIZE = 100;

type ListReply = Reply<typeof listAiTasks>;

interface AiTaskPage {
  readonly page: number;
  /** Those that no page before has shown. */
  readonly tasks: readonly ShownAiTask[];
}

const isNotFound = (error: unknown): boolean =>
  error instanceof ProviderError && error.code === "not-found";

/** The provider refuses the list to this key: as a rule the account has no streaming product. */
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

/** Some servers refuse a page behind the end: the list has become shorter, or named no end. */
const askForPage = async (run: AiTaskRun, page: number): Promise<ListReply | undefined> => {
  const wanted = { task_name: run.taskName, page, limit: PAGE_SIZE };
  try {
    return await ask(run, z.parse(listAiTasks.query, wanted));
  } catch (error) {
    if (page > 1 && isNotFound(error)) return undefined;
    throw error;
  }
};

/** A refusal in the middle of the list says nothing about the list as a whole. */
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

/** The unseen tasks, added to `seen`. A page shows again what new tasks have pushed down. */
const notYetSeen = (run: AiTaskRun, { results }: ListReply, seen: Set<string>): ShownAiTask[] =>
  results.flatMap((task) => {
    if (!task) run.warnOnce("AI tasks without a usable id or status are left out");
    if (!task || seen.has(task.task_id)) return [];
    seen.add(task.task_id);
    return task;
  });

/** Some servers say nothing of a next page, and not all that say there is none are right. */
const isLast = ({ next, count }: ListReply, seen: number): boolean =>
  next !== undefined && !next && seen >= count;

/**
 * The account's tasks page by page, what was started last first. The list is over where the provider
 * says so, or where a page shows nothing that was not seen already.
 * @throws ListRefusedError when the provider refuses the first page with 403 or 404
 * @throws ProviderError when a page cannot be read, or the time is over before the list
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
 * @throws Error when the answer is about other tasks
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
  throw new Error("asked for one AI task, the provider answered with others only");
};
