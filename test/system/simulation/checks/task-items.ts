import * as z from "zod";
import { tasks } from "../../../../lib/engine/task.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Answer } from "../ports/provider.ts";

const PREFIX = `${tasks.kind}#`;
const LIST_PATH = "/cloud/v1/tasks";
const TASK_PATH = /^(?:\/cloud)?\/v1\/tasks\/([^/]+)$/;

const itemSchema = z.object({
  account: z.string(),
  id: z.string(),
  followedBy: z.string().optional(),
  sharedAs: z.string().optional(),
  recordedAt: z.number(),
  state: z.object({ status: z.string(), endedAt: z.number().optional() }),
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

type Page = z.output<typeof pageSchema>;

const readTasks = (url: URL, text: string): Page => {
  if (isListOfTasks(url)) return pageSchema.parse(JSON.parse(text));
  const results = taskIdIn(url) === undefined ? [] : [replySchema.parse(JSON.parse(text))];
  return { count: results.length, results };
};

/** What each answer shows: several checks read it, and a page has up to a thousand tasks. */
const pages = new WeakMap<Answer, Page>();

/** The tasks that an answer with status 200 shows, and how many the whole list has. */
export const tasksShown = (url: URL, answer: Answer): Page => {
  const page = pages.get(answer) ?? readTasks(url, answer.text);
  pages.set(answer, page);
  return page;
};

/** All items of one task, one for each command that waits for it. */
export interface TaskItems {
  readonly byKey: Map<string, TaskItem>;
  /** When the newest of them was recorded. */
  newestAt: number;
}

/** Keeps the newest items of all tasks. */
export const watchTaskItems = ({ ledger, timeline }: Pick<Cloud, "ledger" | "timeline">) => {
  const accounts = new Map<string, Map<string, TaskItems>>();
  ledger.onWrite((item) => {
    const task = taskItemOf(item);
    if (!task) return;
    const ofAccount = accounts.get(task.account) ?? new Map<string, TaskItems>();
    const items = ofAccount.get(task.id) ?? { byKey: new Map(), newestAt: 0 };
    if (!items.byKey.has(item.key)) items.newestAt = timeline.now();
    items.byKey.set(item.key, task);
    ofAccount.set(task.id, items);
    accounts.set(task.account, ofAccount);
  });
  const wasOpen = ({ byKey }: TaskItems, since: number): boolean =>
    [...byKey.values()].some(
      ({ state: { status, endedAt = 0 } }) => status === "open" || endedAt > since,
    );
  return {
    find: (account: string, id: string): TaskItems | undefined => accounts.get(account)?.get(id),
    /** Ids of the tasks of an account that were open at this time or later, epoch ms. */
    openIn: (account: string, since: number): readonly string[] =>
      [...(accounts.get(account) ?? [])].flatMap(([id, items]) =>
        wasOpen(items, since) ? [id] : [],
      ),
  };
};
