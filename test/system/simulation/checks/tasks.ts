import * as z from "zod";
import { followTask } from "../../../../lib/contract/tasks.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { B, NARROW_SENDER } from "../plan/actors.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

const taskSchema = z.object({
  id: z.string(),
  state: z.string(),
  project_id: z.number(),
});
type ProviderTask = z.output<typeof taskSchema>;

const providerTasks = async ({ provider }: Cloud): Promise<ReadonlyMap<string, ProviderTask>> =>
  new Map(
    [
      ...[...(await provider.store.load())].flatMap(([key, text]) =>
        key.startsWith("tasks/") ? [taskSchema.parse(JSON.parse(text))] : [],
      ),
      ...provider.foreignEnds(),
    ].map((task) => [task.id, task]),
  );

/** The actual end of a task, with its fault decision applied. */
const endOf = ({ fates }: Cloud, id: string, task: ProviderTask | undefined): string => {
  if (!task) return "unknown";
  const fate = fates.of(id);
  if (fate === "endless") return "none";
  if (fate === "vanishing") return "finished, failed or unknown";
  if (task.state === "ERROR") return "failed";
  if (task.state !== "FINISHED") return "none";
  return fate === "failing" ? "failed" : "finished";
};

/** The end that a follower may see: a task of a project without rights looks like a missing one. */
const knownEndOf = (
  cloud: Cloud,
  { sender, operation }: Ended,
  id: string,
  task: ProviderTask | undefined,
): string => {
  const isHidden = sender === NARROW_SENDER && task?.project_id !== B.project_id;
  return isHidden && operation === followTask.id ? "unknown" : endOf(cloud, id, task);
};

const wrongEnds = (
  cloud: Cloud,
  command: Ended,
  truth: ReadonlyMap<string, ProviderTask>,
): readonly string[] => {
  const { key, state, deadline } = command;
  // An operator may have cancelled the follow-task.
  if (state.status === "cancelled" && command.operation === followTask.id) return [];
  return state.tasks.flatMap(({ id, end }) => {
    const known = knownEndOf(cloud, command, id, truth.get(cloud.fates.trueId(id)));
    if (!end) {
      return state.endedAt >= deadline - 20_000 ? [] : [`${key} ended before its task ${id}`];
    }
    return known.includes(end.kind)
      ? []
      : [`${key}: task ${id} ${end.kind}, but at the provider ${known}`];
  });
};

/**
 * Invariant 4: a recorded task id is followed to its end. The command has the end that the task had
 * at the provider, and an event reports it.
 */
export const checkTasks = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const truth = await providerTasks(cloud);
  const told = new Set(
    cloud.bus
      .seen()
      .filter(({ detailType }) => detailType === "TaskFinished" || detailType === "TaskFailed")
      .map(({ data, metadata }) => `${metadata.sender}/${metadata.commandId} ${data.taskId}`),
  );
  const violations = (await endedCommands(cloud)).flatMap((command) => [
    ...wrongEnds(cloud, command, truth),
    ...command.state.tasks
      .filter(({ id, end }) => end && !told.has(`${command.key} ${id}`))
      .map(({ id }) => `${command.key}: no event reports the end of task ${id}`),
    ...(command.state.status === "succeeded" &&
    command.state.tasks.some(({ end }) => end?.kind !== "finished")
      ? [`${command.key} has succeeded, but not all of its tasks have`]
      : []),
  ]);
  return violations.map((text) => ({ invariant: 4, text }));
};
