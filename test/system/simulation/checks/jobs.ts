import * as z from "zod";
import { aiTasks } from "../../../../lib/jobs/ai-tasks/ai-task.ts";
import { priceRuns } from "../../../../lib/jobs/prices/price.ts";
import { builtInAiTasks } from "../../../../lib/service/state/ai-tasks.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

const aiTaskSchema = z.object({
  taskId: z.string(),
  state: z.object({ kind: z.literal("ended"), isTold: z.literal(true) }),
});
const priceRunSchema = z.object({ bucket: z.string() });

/** Subjects of a kind of record in the ledger, which events have to name. */
const recorded = (
  { ledger }: Cloud,
  kind: string,
  subjectOf: (value: unknown) => string | undefined,
): ReadonlySet<string> =>
  new Set(
    [...ledger.items.values()]
      .filter(({ key }) => key.startsWith(`${kind}#`))
      .flatMap(({ value }) => subjectOf(value) ?? []),
  );

/** Subjects without an event, or with events of several ids, and events with an unknown subject. */
const toldOtherwise = (
  { bus }: Cloud,
  detailType: string,
  field: string,
  subjects: ReadonlySet<string>,
): readonly string[] => {
  const events = bus.seen().filter((event) => event.detailType === detailType);
  const idsOf = (subject: string): ReadonlySet<string> =>
    new Set(events.filter(({ data }) => data[field] === subject).map(({ id }) => id));
  const unknown = events.filter(({ data }) => !subjects.has(data[field]));
  return [
    ...[...subjects]
      .map((subject) => [subject, idsOf(subject).size] as const)
      .filter(([, count]) => count !== 1)
      .map(([subject, count]) => `${detailType} of ${subject} was published with ${count} ids`),
    ...unknown.map(({ data }) => `${detailType} of ${data[field]}, which the ledger does not have`),
  ];
};

const OVER: ReadonlySet<string> = new Set(["FAILURE", "REVOKED", "SUCCESS"]);

/** AI tasks that had ended before the first run: their ends are not published. */
const endedBefore: ReadonlySet<string> = new Set(
  builtInAiTasks().flatMap(({ task_id, status }) => (OVER.has(status) ? [task_id] : [])),
);

/**
 * The scheduled jobs publish each recorded fact with one id. No price changes, because no client
 * changes any.
 */
export const checkJobs = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const ended = recorded(
    cloud,
    aiTasks.kind,
    (value) => aiTaskSchema.safeParse(value).data?.taskId,
  );
  const captured = recorded(cloud, priceRuns.kind, (value) => priceRunSchema.parse(value).bucket);
  const old = [...ended].filter((taskId) => endedBefore.has(taskId));
  const changed = cloud.bus.seen().filter(({ detailType }) => detailType === "PriceChanged");
  return [
    ...toldOtherwise(cloud, "AiTaskEnded", "taskId", ended),
    ...toldOtherwise(cloud, "PricesCaptured", "bucket", captured),
    ...old.map(
      (taskId) => `the end of AI task ${taskId} was published although it was before the first run`,
    ),
    ...changed.map(
      ({ data }) => `the price of ${data.name} was published as changed, but is unchanged`,
    ),
  ].map((text) => ({ invariant: 1, text }));
};
