import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";
import { followTask } from "../contract/tasks.ts";
import { identityOf, readRequest } from "../engine/read-request.ts";
import type { ReadRequest, RequestContext } from "../engine/request.ts";

/** The detail of a `TaskFollowRequested`: what a sender writes to be told of a task's end. */
const taskFollowSchema = z.looseObject({
  data: z.strictObject({
    taskId: z.string().min(1),
    account: z.string().min(1).optional(),
    after: z.array(z.string()).optional(),
    deadline: z.string().optional(),
  }),
});

/**
 * Reads it as the command that it stands for.
 * @returns what was read, with the detail of that command's `CommandRequested`
 */
export const readTaskFollow = (
  raw: unknown,
  context: RequestContext,
): { readonly read: ReadRequest; readonly detail: unknown } => {
  const { data: follow, error } = taskFollowSchema.safeParse(raw);
  if (follow) {
    const { taskId, ...rest } = follow.data;
    const data = { ...rest, operation: followTask.id, params: { task_id: taskId } };
    const detail = { ...follow, data };
    return { read: readRequest(detail, context), detail };
  }
  const problems = problemsOf(error.issues).map(({ path, rule }) => ({
    path: path.replace(/^data\./, ""),
    rule,
  }));
  const identity = { ...identityOf(raw, context), operation: followTask.id };
  const rejection = { reason: "invalid", problems, ...identity } as const;
  return { read: { kind: "rejected", rejection }, detail: raw };
};
