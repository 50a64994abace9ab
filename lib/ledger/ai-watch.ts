import * as z from "zod";
import { recordKind } from "./record.ts";

/**
 * Keeps the item below DynamoDB's 400 kB. What finds no room is not known yet, and reading the list
 * does not stop above it: it is found again when there is room, or when it has ended.
 */
const MAX_OPEN = 2_000;

const openSchema = z.object({
  taskId: z.string(),
  taskName: z.string().optional(),
  /** First of the looks in a row that did not find it, epoch ms. */
  missingSince: z.int().optional(),
});

const aiWatchSchema = z.object({
  /** With which filter all that the list showed was recorded; absent until it was. */
  baseline: z.object({ taskName: z.string().optional() }).optional(),
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
  | { readonly kind: "missing"; readonly since: number }
  /** Its end is recorded. */
  | { readonly kind: "ended" }
  /** It is recorded as gone since then, epoch ms. */
  | { readonly kind: "vanished"; readonly missingSince: number };

const NEW_WATCH: AiWatch = { open: [] };

/** Whether all that the list showed with this filter was recorded. */
export const hasBaseline = (watch: AiWatch | undefined, taskName: string | undefined): boolean =>
  watch?.baseline !== undefined && watch.baseline.taskName === taskName;

/** The same filter again changes nothing. */
export const completeBaseline = (
  watch: AiWatch | undefined,
  taskName: string | undefined,
): AiWatch =>
  watch && hasBaseline(watch, taskName)
    ? watch
    : { ...(watch ?? NEW_WATCH), baseline: taskName === undefined ? {} : { taskName } };

/** Follows tasks from now on: the first ones for which there is room. Twice is once. */
export const followOpen = (watch: AiWatch | undefined, found: readonly OpenAiTask[]): AiWatch => {
  const current = watch ?? NEW_WATCH;
  const followed = new Set(current.open.map(({ taskId }) => taskId));
  const added = found
    .filter(({ taskId }) => !followed.has(taskId))
    .slice(0, Math.max(0, MAX_OPEN - current.open.length));
  return added.length === 0 ? current : { ...current, open: [...current.open, ...added] };
};

const afterLook = (task: OpenAiTask, look: OpenLook | undefined): OpenAiTask | undefined => {
  const { missingSince, ...found } = task;
  switch (look?.kind) {
    case undefined:
      return task;
    case "present":
      return missingSince === undefined ? task : found;
    case "missing":
      return missingSince === undefined ? { ...task, missingSince: look.since } : task;
    case "ended":
      return undefined;
    case "vanished":
      // Another run may have seen it again in the meantime.
      return missingSince === look.missingSince ? undefined : task;
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
