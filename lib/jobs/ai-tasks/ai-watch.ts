import * as z from "zod";
import { clipped, isoText } from "../../events/event.ts";
import type { HeldLease } from "../../ledger/lease.ts";
import { type OutboxEvent, outboxEvent, outboxKind, outboxSchema } from "../../ledger/outbox.ts";
import type { JobDeps } from "../../platform/ports/job.ts";
import type { Client } from "../../provider/client.ts";

/** Maximum followed tasks of one account: keeps its item below DynamoDB's 400 kB. Others count as unknown. */
const MAX_OPEN = 2_000;
/**
 * Maximum unpublished events of one account; the newest are kept. A list that is refused and shown
 * alternately while the bus is down makes many.
 */
const MAX_UNPUBLISHED = 20;

/** Followed tasks that keep the time at which they were first seen, so that the item has room for all tasks. */
const MAX_TIMED = 500;

const openSchema = z.object({
  taskId: z.string(),
  taskName: z.string().optional(),
  /** Time at which a run first saw it running, epoch ms. */
  seenAt: z.int().optional(),
  /** Checks in a row that did not find the task: time of the first, epoch ms, and their number. */
  missing: z.object({ since: z.int(), looks: z.int() }).optional(),
});

const aiWatchSchema = z.object({
  /** Only tasks of this method are watched; absent: all. */
  taskName: z.string().optional(),
  /** Page at which the full read continues; absent while none is under way. */
  nextPage: z.int().optional(),
  /** End of the last full read, epoch ms; absent until the baseline is complete. */
  fullReadAt: z.int().optional(),
  /** Running tasks, followed to their end. */
  open: z.array(openSchema),
  /** Whether the provider shows the list to this key, and since when (epoch ms); absent: never refused. */
  list: z.object({ state: z.enum(["accepted", "refused"]), since: z.int() }).optional(),
  outbox: outboxSchema.default([]),
});

export type AiWatch = z.output<typeof aiWatchSchema>;
export type OpenAiTask = z.output<typeof openSchema>;

/** Watch of one account's AI tasks, by its name. Ended and vanished tasks have records of their own. */
export const aiWatches = outboxKind({
  kind: "ai-watch",
  schema: aiWatchSchema,
});

/** Result of one check of a followed task. */
export type TaskCheck =
  | { readonly kind: "present" }
  | { readonly kind: "missing"; readonly since: number; readonly looks: number }
  /** Recorded as ended or as vanished. */
  | { readonly kind: "over" };

/** Watch with this filter. A new filter needs a new baseline, and keeps the followed tasks. */
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

interface ListRefusal {
  /** HTTP status of the provider's answer. */
  readonly status: number;
  readonly problem: string;
}

/** Time of a change, later than the last one: two changes at one instant would give two events one id. */
const startAfter = (list: List | undefined, now: number): number =>
  Math.max(now, (list?.since ?? 0) + 1);

/** Metadata of events about one refusal of the list, which is their common cause. */
const aboutList = (account: string, time: number, refusedSince: number) => {
  const causationId = `accounts/${account}/ai-task-list-refused/${isoText(refusedSince)}`;
  return { subject: `accounts/${account}`, time, account, correlationId: causationId, causationId };
};

const withList = (watch: AiWatch, list: List, event: OutboxEvent): AiWatch => ({
  ...watch,
  list,
  outbox: [...watch.outbox, event].slice(-MAX_UNPUBLISHED),
});

/** Records a refusal of the list with its event; the same watch if it is refused already. */
export const refuseList = (
  watch: AiWatch,
  account: string,
  { now, status, problem }: ListRefusal & { readonly now: number },
): AiWatch => {
  if (watch.list?.state === "refused") return watch;
  const since = startAfter(watch.list, now);
  const event = outboxEvent({
    ...aboutList(account, since, since),
    detailType: "AiTaskListRefused",
    identity: [account, String(since)],
    data: { since: isoText(since), status, problem: clipped(problem) },
  });
  return withList(watch, { state: "refused", since }, event);
};

/** Records the end of a refusal with its event; the same watch if the list is not refused. */
const acceptList = (watch: AiWatch, account: string, now: number): AiWatch => {
  const { list } = watch;
  if (list?.state !== "refused") return watch;
  const since = startAfter(list, now);
  const event = outboxEvent({
    ...aboutList(account, since, list.since),
    detailType: "AiTaskListAccepted",
    identity: [account, String(list.since)],
    data: { since: isoText(since), refusedSince: isoText(list.since) },
  });
  return withList(watch, { state: "accepted", since }, event);
};

/** Records the page at which the full read continues. */
export const continueFrom = (watch: AiWatch, page: number): AiWatch => ({
  ...watch,
  nextPage: page,
});

/** Records the end of a full read. */
export const endFullRead = ({ nextPage: _, ...watch }: AiWatch, at: number): AiWatch => ({
  ...watch,
  fullReadAt: at,
});

/**
 * Adds tasks to follow, as many as there is room for. Idempotent.
 * @param now epoch ms
 */
export const followOpen = (watch: AiWatch, found: readonly OpenAiTask[], now: number): AiWatch => {
  const followed = new Set(watch.open.map(({ taskId }) => taskId));
  const added = found
    .filter(({ taskId }) => !followed.has(taskId))
    .slice(0, Math.max(0, MAX_OPEN - watch.open.length))
    .map((task, index) =>
      watch.open.length + index < MAX_TIMED ? { ...task, seenAt: now } : task,
    );
  return added.length === 0 ? watch : { ...watch, open: [...watch.open, ...added] };
};

const afterCheck = (task: OpenAiTask, check: TaskCheck | undefined): OpenAiTask | undefined => {
  const { missing, ...found } = task;
  switch (check?.kind) {
    case undefined:
      return task;
    case "present":
      return missing === undefined ? task : found;
    case "missing":
      return missing?.looks === check.looks
        ? task
        : { ...task, missing: { since: check.since, looks: check.looks } };
    case "over":
      return undefined;
    default:
      return check satisfies undefined;
  }
};

/** Applies checks of followed tasks, by task id; the same watch if nothing changes. */
export const applyChecks = (watch: AiWatch, checks: ReadonlyMap<string, TaskCheck>): AiWatch => {
  const open = watch.open.flatMap((task) => afterCheck(task, checks.get(task.taskId)) ?? []);
  const isSame =
    open.length === watch.open.length && open.every((task, index) => task === watch.open[index]);
  return isSame ? watch : { ...watch, open };
};

/** One run over the tasks of one account. */
export interface AiTaskRun {
  readonly deps: JobDeps;
  readonly accountName: string;
  readonly taskName: string | undefined;
  /** Retries transient failures, and sends nothing after the run's time. */
  readonly client: Client;
  readonly lease: HeldLease;
  /** Watch at the start of the run. */
  readonly watch: AiWatch;
  /** Ids of the tasks that were followed at the start of the run. */
  readonly followed: ReadonlySet<string>;
  /** Checks of followed tasks that this run has made so far, by task id. */
  readonly checks: Map<string, TaskCheck>;
  /** Logs a warning once per run. */
  warnOnce(message: string): void;
}

/** Renews the lease. @throws Error when it is lost: another run is active */
export const requireLease = async ({ lease }: AiTaskRun): Promise<void> => {
  if (!(await lease.renew())) throw new Error("another run has taken over the AI tasks");
};

/** Changes the account's watch under this run's filter. @returns the stored watch */
export const changeWatch = async (
  { deps, accountName, taskName }: AiTaskRun,
  next: (watch: AiWatch) => AiWatch,
): Promise<AiWatch> => {
  const { value } = await aiWatches.change(deps.ledger, accountName, (stored) =>
    next(watchFor(stored, taskName)),
  );
  return value;
};

/** Records and publishes that the provider refuses the list, unless an earlier run has done so. */
export const publishListRefused = async (run: AiTaskRun, refusal: ListRefusal): Promise<void> => {
  if (run.watch.list?.state === "refused") return;
  const { deps, accountName: account } = run;
  const now = deps.clock.now();
  await changeWatch(run, (watch) => refuseList(watch, account, { now, ...refusal }));
  deps.log.warn("list of AI tasks refused; each run asks again", {
    account,
    status: refusal.status,
    errorMessage: refusal.problem,
  });
  await aiWatches.publishOrLeave(deps, account);
};

/** Records and publishes that the provider shows the list again, if it was refused before. */
export const publishListAccepted = async (run: AiTaskRun): Promise<void> => {
  if (run.watch.list?.state !== "refused") return;
  const { deps, accountName: account } = run;
  const now = deps.clock.now();
  let isNew = false;
  await changeWatch(run, (watch) => {
    isNew = watch.list?.state === "refused";
    return acceptList(watch, account, now);
  });
  if (isNew) deps.log.info("list of AI tasks shown again", { account });
  await aiWatches.publishOrLeave(deps, account);
};
