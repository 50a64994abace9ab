import * as z from "zod";
import { tasks } from "../../../../lib/engine/task.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";

const PREFIX = `${tasks.kind}#`;
const LIST_PATH = "/cloud/v1/tasks";
const TASK_PATH = /^(?:\/cloud)?\/v1\/tasks\/([^/]+)$/;

const itemSchema = z.object({
  account: z.string(),
  id: z.string(),
  followedBy: z.string().optional(),
  sharedAs: z.string().optional(),
  recordedAt: z.number(),
  state: z.object({ status: z.string() }),
});

/** A task's record, as far as the checks of following read it. */
export type TaskItem = z.output<typeof itemSchema>;

/** The record of a ledger item; undefined for items of other kinds. */
export const taskItemOf = ({ key, value }: LedgerItem): TaskItem | undefined =>
  key.startsWith(PREFIX) ? itemSchema.parse(value) : undefined;

/** The id in a request for one task. */
export const taskIdIn = ({ pathname }: URL): string | undefined => TASK_PATH.exec(pathname)?.[1];

/** Whether a request asks for a list to follow tasks by; lists by type serve another purpose. */
export const isListOfTasks = ({ pathname, searchParams }: URL): boolean =>
  pathname === LIST_PATH && !searchParams.has("task_type");

const replySchema = z.looseObject({ id: z.string(), state: z.string() });
const pageSchema = z.object({ count: z.number(), results: z.array(replySchema) });

export type ShownTask = z.output<typeof replySchema>;

export const hasEnded = ({ state }: ShownTask): boolean =>
  state === "FINISHED" || state === "ERROR";

/** The tasks that a reply with status 200 shows, and how many the whole list has. */
export const tasksShown = (url: URL, text: string): z.output<typeof pageSchema> => {
  if (isListOfTasks(url)) return pageSchema.parse(JSON.parse(text));
  const results = taskIdIn(url) === undefined ? [] : [replySchema.parse(JSON.parse(text))];
  return { count: results.length, results };
};
