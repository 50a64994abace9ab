import * as z from "zod";
import { ProviderError } from "../client/provider-error.ts";
import { listAiTasks } from "../contract/ai-tasks.ts";
import type { Query, Reply } from "../contract/operation.ts";
import type { AiTaskRun } from "./run.ts";
import type { ShownAiTask } from "./shown-task.ts";

/** As many as one request should bring; the provider may have a lower limit of its own. */
const PAGE_SIZE = 100;

type AiTaskPage = Reply<typeof listAiTasks>;

const isNotFound = (error: unknown): boolean =>
  error instanceof ProviderError && error.code === "not-found";

const ask = ({ client }: AiTaskRun, query: Query<typeof listAiTasks>): Promise<AiTaskPage> =>
  client.call(listAiTasks, { params: {}, query, body: undefined });

/** A page behind the end is refused by some servers: the list has become shorter, or told no end. */
const askForPage = async (run: AiTaskRun, page: number): Promise<AiTaskPage | undefined> => {
  const wanted = { task_name: run.taskName, page, limit: PAGE_SIZE };
  try {
    return await ask(run, z.parse(listAiTasks.query, wanted));
  } catch (error) {
    if (page > 1 && isNotFound(error)) return undefined;
    throw error;
  }
};

/** Where the server says nothing of a next page, one as long as the first may have a next. */
const leadsOn = ({ next, results }: AiTaskPage, firstLength: number): boolean => {
  if (results.length === 0) return false;
  return next === undefined ? results.length >= firstLength : Boolean(next);
};

/**
 * The account's tasks page by page, what was started last first. A page may show again what stood on
 * the one before, when something new has come on top in the meantime.
 * @throws ProviderError when a page cannot be read, or the time is over before the list
 */
export async function* aiTaskPages(run: AiTaskRun): AsyncGenerator<readonly ShownAiTask[]> {
  let firstLength = 0;
  for (let page = 1; ; page += 1) {
    const reply = await askForPage(run, page);
    if (!reply) return;
    if (page === 1) firstLength = reply.results.length;
    yield reply.results;
    if (!leadsOn(reply, firstLength)) return;
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
    const found = results.find(({ task_id }) => task_id === taskId);
    if (found || results.length === 0) return found;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  throw new Error("asked for one AI task, the provider told of others only");
};
