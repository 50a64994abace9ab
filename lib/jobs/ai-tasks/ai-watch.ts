import * as z from "zod";
import { type OutboxEvent, outboxKind, outboxSchema } from "../../ledger/outbox.ts";

/** Keeps the item below DynamoDB's 400 kB. What finds no room is not known yet. */
const MAX_OPEN = 2_000;
/** Of a list that is refused and shown in turn while the bus is away; the newest are kept. */
const MAX_UNPUBLISHED = 20;

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
  /** Whether the provider shows the list to this key, and since when, epoch ms; absent: never refused. */
  list: z.object({ state: z.enum(["accepted", "refused"]), since: z.int() }).optional(),
  outbox: outboxSchema.default([]),
});

export type AiWatch = z.output<typeof aiWatchSchema>;
export type OpenAiTask = z.output<typeof openSchema>;

/** What is known of the AI tasks of one account, by its name, beside those that are over. */
export const aiWatches = outboxKind({
  kind: "ai-watch",
  schema: aiWatchSchema,
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
    : {
        ...(taskName !== undefined && { taskName }),
        open: watch?.open ?? [],
        ...(watch?.list && { list: watch.list }),
        outbox: watch?.outbox ?? [],
      };

type List = NonNullable<AiWatch["list"]>;

/** Clocks differ, and two changes at one instant would give two events one id. */
const startAfter = (list: List | undefined, now: number): number =>
  Math.max(now, (list?.since ?? 0) + 1);

/**
 * Records that the provider refuses the list, once until it shows the list again.
 * @param eventOf makes the event from the time of the change, epoch ms
 */
export const refuseList = (
  watch: AiWatch,
  now: number,
  eventOf: (since: number) => OutboxEvent,
): AiWatch => {
  if (watch.list?.state === "refused") return watch;
  const since = startAfter(watch.list, now);
  return {
    ...watch,
    list: { state: "refused", since },
    outbox: [...watch.outbox, eventOf(since)].slice(-MAX_UNPUBLISHED),
  };
};

/**
 * Records that the provider shows a list that it refused before.
 * @param eventOf makes the event from the time of the change and of the refusal, epoch ms
 */
export const acceptList = (
  watch: AiWatch,
  now: number,
  eventOf: (since: number, refusedSince: number) => OutboxEvent,
): AiWatch => {
  const { list } = watch;
  if (list?.state !== "refused") return watch;
  const since = startAfter(list, now);
  return {
    ...watch,
    list: { state: "accepted", since },
    outbox: [...watch.outbox, eventOf(since, list.since)].slice(-MAX_UNPUBLISHED),
  };
};

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
