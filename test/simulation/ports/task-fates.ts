import * as z from "zod";
import type { Chance } from "../engine/chance.ts";
import type { Weather } from "../engine/faults.ts";

/** What the provider makes of a task, for good: none of it is a fault that ends with the storm. */
const TASK_FATES = ["endless", "vanishing", "failing", "strange"] as const;
type TaskFate = (typeof TASK_FATES)[number];

const taskSchema = z.looseObject({ id: z.string(), state: z.string() });
const listSchema = z.looseObject({ count: z.number(), results: z.array(taskSchema) });
type Task = z.output<typeof taskSchema>;

/** A task is known for so long before it vanishes. */
const KNOWN_FOR_MS = 4_000;

export interface TaskFates {
  /** Decides about the nth task that a command has begun. */
  decide(taskId: string, command: string, nth: number, at: number): void;
  of(taskId: string): TaskFate | undefined;
  /** The provider's answer to a read, as it is with these fates; undefined: there is no such task. */
  shown(url: URL, text: string, at: number): string | undefined;
}

export const createTaskFates = (chance: Chance, weather: Weather): TaskFates => {
  const fates = new Map<string, { readonly fate: TaskFate; readonly since: number }>();

  const isGone = ({ id }: Task, at: number): boolean => {
    const found = fates.get(id);
    return found?.fate === "vanishing" && at >= found.since + KNOWN_FOR_MS;
  };

  const shownTask = (task: Task): Task => {
    const isOver = task.state === "FINISHED" || task.state === "ERROR";
    switch (fates.get(task.id)?.fate) {
      case "endless":
        return {
          ...task,
          state: "RUNNING",
          error: null,
          finished_on: null,
          created_resources: null,
        };
      case "failing":
        return task.state === "FINISHED" ? { ...task, error: "the quota is exceeded" } : task;
      case "strange":
        return isOver ? task : { ...task, state: "PENDING_REVIEW" };
      default:
        return task;
    }
  };

  return {
    decide(taskId, command, nth, at) {
      const fate = TASK_FATES.find((kind) =>
        chance.happens(`fate ${kind} ${command} ${nth}`, weather[kind] ?? 0),
      );
      if (fate) fates.set(taskId, { fate, since: at });
    },
    of: (taskId) => fates.get(taskId)?.fate,
    shown({ pathname: path, searchParams }, text, at) {
      if (fates.size === 0 || path.startsWith("/streaming/")) return text;
      if (/\/tasks\/[^/]+$/.test(path)) {
        const task = taskSchema.parse(JSON.parse(text));
        return isGone(task, at) ? undefined : JSON.stringify(shownTask(task));
      }
      if (!path.endsWith("/tasks")) return text;
      const { results, ...list } = listSchema.parse(JSON.parse(text));
      // Whoever asks for all tasks of a type sees all: that is how an effect is looked for, and a
      // provider that forgets what it has created cannot be asked.
      const isHidden = (task: Task): boolean => !searchParams.has("task_type") && isGone(task, at);
      const left = results.filter((task) => !isHidden(task)).map(shownTask);
      return JSON.stringify({ ...list, results: left });
    },
  };
};
