import pLimit from "p-limit";
import * as z from "zod";
import { isoText } from "../events/event.ts";
import { type AiTask, aiTaskPartition, aiTasks, eventOfAiTask } from "../jobs/ai-tasks/ai-task.ts";
import { type AiWatch, aiWatches } from "../jobs/ai-tasks/ai-watch.ts";
import type { Ledger, ListEntry } from "../platform/ports/ledger.ts";
import { cursorOf, cursorSchema, sortOf } from "./list-cursor.ts";

/** Selects a page of tasks with an event. */
export const aiTasksQuerySchema = z.strictObject({
  cursor: cursorSchema().optional(),
  /** Ended and vanished tasks of one page. */
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

export type AiTasksQuery = z.output<typeof aiTasksQuerySchema>;

const task = { taskId: z.string(), taskName: z.string().optional() };

const overSchema = z.object({
  ...task,
  state: z.enum(["ended", "vanished"]),
  /** Status at the provider, of an ended task. */
  status: z.string().optional(),
  /** Time at which a run first saw the end, or gave the task up. */
  at: z.string(),
  /** Of a vanished task: the first check that did not find it. */
  missingSince: z.string().optional(),
  /** The event that reports it. `waiting`: not yet recorded as published; the bus may have it. */
  event: z.object({ type: z.string(), id: z.string(), state: z.enum(["published", "waiting"]) }),
});

/** What the watch of AI tasks has recorded. Instants are ISO 8601. */
export const aiTasksViewSchema = z.object({
  account: z.string(),
  /** Null: no run has begun. */
  watch: z
    .object({
      /** Only tasks of this method are watched; absent: all. */
      taskName: z.string().optional(),
      /** End of the last read of the whole list; absent until the first one is complete. */
      fullReadAt: z.string().optional(),
      /** Whether the provider shows the list, and since when; absent: it never refused it. */
      list: z.object({ state: z.enum(["accepted", "refused"]), since: z.string() }).optional(),
    })
    .nullable(),
  /** Running tasks that are followed, in the order of their discovery. */
  open: z.array(
    z.object({
      ...task,
      /** Time at which a run first saw it; absent for the 501st and later ones. */
      seenAt: z.string().optional(),
      /** Time of the first check that did not find it; absent: the last one found it. */
      missingSince: z.string().optional(),
    }),
  ),
  /** Ended and vanished tasks with an event, the newest record first. */
  over: z.array(overSchema),
  /** Cursor of the next page; absent: this is the last one. */
  cursor: z.string().optional(),
});

export type AiTasksView = z.output<typeof aiTasksViewSchema>;

const named = (taskName: string | undefined) => (taskName === undefined ? {} : { taskName });

const watchOf = ({ taskName, fullReadAt, list }: AiWatch): AiTasksView["watch"] => ({
  ...named(taskName),
  ...(fullReadAt !== undefined && { fullReadAt: isoText(fullReadAt) }),
  ...(list && { list: { ...list, since: isoText(list.since) } }),
});

const openOf = ({ open }: AiWatch): AiTasksView["open"] =>
  open.map(({ taskId, taskName, seenAt, missing }) => ({
    taskId,
    ...named(taskName),
    ...(seenAt !== undefined && { seenAt: isoText(seenAt) }),
    ...(missing && { missingSince: isoText(missing.since) }),
  }));

const overOf = (record: AiTask): AiTasksView["over"] => {
  const event = eventOfAiTask(record);
  if (!event) return [];
  const { taskId, taskName, state } = record;
  const { at, ...published } = event;
  return [
    {
      taskId,
      ...named(taskName),
      state: state.kind,
      ...(state.kind === "ended" && { status: state.status }),
      at: isoText(at),
      ...(state.kind === "vanished" && { missingSince: isoText(state.missingSince) }),
      event: published,
    },
  ];
};

const MAX_READS_AT_ONCE = 16;

/** Reads the tasks of list entries. The list may be behind the items by a moment. */
const readTasks = (ledger: Ledger, entries: readonly ListEntry[]): Promise<AiTasksView["over"][]> =>
  pLimit(MAX_READS_AT_ONCE).map(entries, async ({ key }) => {
    const stored = await aiTasks.read(ledger, key.slice(`${aiTasks.kind}#`.length));
    return stored ? overOf(stored.value) : [];
  });

/**
 * What the watch of an account's AI tasks has recorded: followed tasks, and a page of those with an event. Tasks that
 * ended before the watch began have none, and neither have records of a version without this list.
 */
export const viewAiTasks = async (
  ledger: Ledger,
  account: string,
  { cursor, limit }: AiTasksQuery,
): Promise<AiTasksView> => {
  const before = cursor === undefined ? undefined : sortOf(cursor);
  const watch = (await aiWatches.read(ledger, account))?.value;
  const entries = await ledger.list(aiTaskPartition(account), before, limit);
  const last = entries.length === limit ? entries.at(-1) : undefined;
  return {
    account,
    watch: watch ? watchOf(watch) : null,
    open: watch ? openOf(watch) : [],
    over: (await readTasks(ledger, entries)).flat(),
    ...(last && { cursor: cursorOf(last.sort) }),
  };
};
