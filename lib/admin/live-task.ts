import * as z from "zod";
import { createdResourcesSchema } from "../contract/created-resources.ts";
import { getTask } from "../contract/tasks.ts";
import { isSmall } from "../engine/command-events.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { shownTaskError } from "../engine/poller/task-end.ts";
import { taskKey, tasks } from "../engine/task.ts";
import { ProviderError } from "../provider/provider-error.ts";

/** Times that only some providers send; the contract does not need them. */
const timesSchema = z.object({
  updated_on: z.string().optional().catch(undefined),
  finished_on: z.string().optional().catch(undefined),
});

export const liveTaskSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("read"),
    /** The provider's word; FINISHED and ERROR are the ends. */
    state: z.string(),
    taskType: z.string().optional(),
    /** Times as the provider writes them. */
    createdAt: z.string().optional(),
    updatedAt: z.string().optional(),
    finishedAt: z.string().optional(),
    /** The provider's error text, without the secrets of the request that started the task. */
    error: z.string().optional(),
    /** Ids by kind; absent above 64 kB. */
    createdResources: createdResourcesSchema().optional(),
  }),
  /** The provider answers 404. */
  z.object({ kind: z.literal("unknown") }),
  /** No usable answer. `code`: as in the attempts of a command. */
  z.object({
    kind: z.literal("unreadable"),
    code: z.string(),
    message: z.string(),
    retryAfterMs: z.number().optional(),
  }),
]);

export type LiveTask = z.output<typeof liveTaskSchema>;

const notRead = (error: unknown): LiveTask => {
  if (!(error instanceof ProviderError)) throw error;
  const { code, message, retryAfterMs } = error;
  return code === "not-found"
    ? { kind: "unknown" }
    : { kind: "unreadable", code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
};

/**
 * Reads a task at the provider now, with one request of the account's rate limit. The records of the task and of
 * its command stay as they are; the poller ends them.
 * @returns undefined for an unknown account
 */
export const readLiveTask = async (
  { ledger, accountOf }: Pick<CommandDeps, "ledger" | "accountOf">,
  { account: name, id: given }: { readonly account: string; readonly id: string },
): Promise<LiveTask | undefined> => {
  const account = accountOf(name);
  if (!account) return undefined;
  const params = getTask.params.safeParse({ task_id: given }).data;
  // No task has an id that no path can contain.
  if (!params) return { kind: "unknown" };
  try {
    const read = await account.client.call(getTask, { params, query: {}, body: undefined });
    const { state, task_type, created_on, error, created_resources: resources } = read;
    const { updated_on, finished_on } = timesSchema.parse(read);
    const id = params.task_id;
    const started = (await tasks.read(ledger, taskKey({ account: name, id })))?.value;
    return {
      kind: "read",
      state,
      ...(task_type && { taskType: task_type }),
      ...(created_on && { createdAt: created_on }),
      ...(updated_on && { updatedAt: updated_on }),
      ...(finished_on && { finishedAt: finished_on }),
      ...(error && { error: await shownTaskError(ledger, id, started, error) }),
      ...(resources && isSmall(resources) && { createdResources: resources }),
    };
  } catch (error) {
    return notRead(error);
  }
};
