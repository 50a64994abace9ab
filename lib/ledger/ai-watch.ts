import * as z from "zod";
import { recordKind } from "./record.ts";

/** Keeps the item below DynamoDB's 400 kB. What finds no room is not known yet. */
const MAX_OPEN = 2_000;

const openSchema = z.object({
  taskId: z.string(),
  taskName: z.string().optional(),
  /** The looks in a row that did not find it: when the first one was, epoch ms, and how many. */
  missing: z.object({ since: z.int(), looks: z.int() }).optional(),
});

const aiWatchSchema = z.object({
  /** Only tasks of this method are watched; absent: all. */
  taskName: z.string().optional(),
  /** From which page on the reading of the whole list goes on; absent while none is under way. */
  nextPage: z.int().optional(),
  /** When the whole list was last read, epoch ms; absent until the baseline is complete. */
  fullReadAt: z.int().optional(),
  /** Tasks at work, followed to their end. */
  open: z.array(openSchema),
});

export type AiWatch = z.output<typeof aiWatchSchema>;
export type OpenAiTask = z.output<typeof openSchema>;

/** What is known of the AI tasks of one account, by its name, beside those that are over. */
export const aiWatches = recordKind({
  kind: "ai-watch",
  schema: aiWatchSchema,
  dueAt: () => undefined,
  expiresAt: () => undefined,
});

/** What one look says of a followed task. */
export type OpenLook =
  | { readonly kind: "present" }
  | { readonly kind: "missing"; readonly since: number; readonly looks: number }
  /** It is recorded as ended, or as gone. */
  | { readonly kind: "over" };

/** The watch with this filter: another filter than before has no baseline, and follows on. */
export const watchFor = (watch: AiWatch | undefined, taskName: string | undefined): AiWatch =>
  watch && watch.taskName === taskName
    ? watch
    : { ...(taskName !== undefined && { taskName }), open: watch?.open ?? [] };

/** The whole list is being read, and goes on from this page. */
export const goOnFrom = (watch: AiWatch, page: number): AiWatch => ({ ...watch, nextPage: page });

/** The whole list was read. */
export const endFullRead = ({ nextPage: _, ...watch }: AiWatch, at: number): AiWatch => ({
  ...watch,
  fullReadAt: at,
});

/** Follows tasks from now on: the first ones for which there is room. Twice is once. */
export const followOpen = (watch: AiWatch, found: readonly OpenAiTask[]): AiWatch => {
  const followed = new Set(watch.open.map(({ taskId }) => taskId));
  const added = found
    .filter(({ taskId }) => !followed.has(taskId))
    .slice(0, Math.max(0, MAX_OPEN - watch.open.length));
  return added.length === 0 ? watch : { ...watch, open: [...watch.open, ...added] };
};

const afterLook = (task: OpenAiTask, look: OpenLook | undefined): OpenAiTask | undefined => {
  const { missing, ...found } = task;
  switch (look?.kind) {
    case undefined:
      return task;
    case "present":
      return missing === undefined ? task : found;
    case "missing":
      return missing?.looks === look.looks
        ? task
        : { ...task, missing: { since: look.since, looks: look.looks } };
    case "over":
      return undefined;
    default:
      return look satisfies undefined;
  }
};

/** Takes over what looks at followed tasks have said, by task id; the same watch if nothing new. */
export const applyLooks = (watch: AiWatch, looks: ReadonlyMap<string, OpenLook>): AiWatch => {
  const open = watch.open.flatMap((task) => afterLook(task, looks.get(task.taskId)) ?? []);
  const isSame =
    open.length === watch.open.length && open.every((task, index) => task === watch.open[index]);
  return isSame ? watch : { ...watch, open };
};
