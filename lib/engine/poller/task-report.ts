import type * as z from "zod";
import { type createdResourcesSchema, getTask, type taskSchema } from "../../contract/tasks.ts";
import type { Account } from "../../provider/accounts.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { isSmall } from "../command-events.ts";
import type { TaskEnd } from "../task.ts";

/** What one look at a task says. */
export type TaskReport =
  | { readonly kind: "open"; readonly project: number | undefined }
  | { readonly kind: "ended"; readonly end: TaskEnd; readonly project: number | undefined }
  | { readonly kind: "missing" }
  /** Nobody could be asked. */
  | { readonly kind: "unseen" }
  /** The account was in trouble before the task's turn came; the provider may have named a pause. */
  | { readonly kind: "unasked"; readonly retryAfterMs: number | undefined }
  /** The provider could not be asked; it may have named a pause. */
  | {
      readonly kind: "unreadable";
      readonly code: string;
      readonly retryAfterMs: number | undefined;
    };

/** More than an event takes is left out: it can be read at the provider. */
const created = (resources: z.output<typeof createdResourcesSchema> | null | undefined) =>
  resources && isSmall(resources) ? { createdResources: { ...resources } } : {};

/**
 * What a task record means. FINISHED with an error text is a failure; a state that we do not know
 * means still running: the document names two ends only.
 */
export const reportOf = (task: z.output<typeof taskSchema>): TaskReport => {
  const { state, error, created_resources: resources } = task;
  const project = task.project_id ?? undefined;
  if (state === "FINISHED" && !error) {
    return { kind: "ended", end: { status: "finished", ...created(resources) }, project };
  }
  if (state === "FINISHED" || state === "ERROR") {
    const message = error || "the task ended in ERROR without a reason";
    return { kind: "ended", end: { status: "failed", message }, project };
  }
  return { kind: "open", project };
};

/** A failed look is never the task's end: it only says that nothing was seen. */
export const reportOfError = (error: unknown): TaskReport => {
  if (!(error instanceof ProviderError)) throw error;
  return error.code === "not-found"
    ? { kind: "missing" }
    : { kind: "unreadable", code: error.code, retryAfterMs: error.retryAfterMs };
};

/** Looks at one task. */
export const readTask = async (
  account: Account,
  taskId: string,
  signal: AbortSignal,
): Promise<TaskReport> => {
  try {
    const request = { params: { task_id: taskId }, query: {}, body: undefined };
    return reportOf(await account.client.call(getTask, request, signal));
  } catch (error) {
    return reportOfError(error);
  }
};
