import * as z from "zod";
import type { Chance } from "../engine/chance.ts";
import type { Weather } from "../engine/faults.ts";

/** Fault decisions about a task. They are permanent and do not end with the other faults. */
const TASK_FATES = [
  "endless",
  "vanishing",
  "failing",
  "strange",
  "late",
  "long",
  "unreadable",
] as const;
type TaskFate = (typeof TASK_FATES)[number];

const taskSchema = z.looseObject({ id: z.string(), state: z.string() });
const listSchema = z.looseObject({ count: z.number(), results: z.array(taskSchema) });
type Task = z.output<typeof taskSchema>;

/** Ages of a task, ms, at which the provider answers that it does not exist. */
const HIDDEN_MS: Partial<Record<TaskFate, readonly (readonly [number, number])[]>> = {
  vanishing: [[4_000, Number.POSITIVE_INFINITY]],
  late: [[0, 20_000]],
  // Two short gaps, further apart than a vanished task has to be missing.
  long: [
    [0, 10_000],
    [330_000, 345_000],
  ],
};
const LONG_MS = 480_000;
/** Part of the tasks with a twin that have two. */
const TRIPLET_SHARE = 0.2;
/** Longer than a vanished task has to be missing. */
const UNREADABLE_MS = 400_000;

const RUNNING = { state: "RUNNING", error: null, finished_on: null, created_resources: null };

export interface TaskFates {
  /** Decides about the nth task of a command. */
  decide(taskId: string, command: string, nth: number, at: number): void;
  /**
   * Further tasks in the reply: one or two twins that run and end with the first one, or a running task of another
   * command.
   */
  more(taskId: string, command: string, nth: number, at: number): readonly string[];
  of(taskId: string): TaskFate | undefined;
  /** Kinds of decisions that applied so far. */
  readonly met: ReadonlySet<string>;
  /** The provider's own id of the task. */
  trueId(taskId: string): string;
  /** The URL with the provider's own task id. */
  asked(url: URL): URL;
  /** Whether this read fails because of its task. */
  failsAt(url: URL, at: number): boolean;
  /** The provider's answer with these decisions applied; undefined: there is no such task. */
  shown(url: URL, text: string, at: number): string | undefined;
}

const idIn = ({ pathname }: URL): string | undefined => /\/tasks\/([^/]+)$/.exec(pathname)?.[1];

const shownAs = (task: Task, fate: TaskFate | undefined, ageMs: number): Task => {
  const isOver = task.state === "FINISHED" || task.state === "ERROR";
  if (fate === "endless" || (fate === "long" && ageMs < LONG_MS)) return { ...task, ...RUNNING };
  if (fate === "failing" && task.state === "FINISHED") {
    return { ...task, error: "the quota is exceeded" };
  }
  return fate === "strange" && !isOver ? { ...task, state: "PENDING_REVIEW" } : task;
};

export const createTaskFates = (chance: Chance, weather: Weather): TaskFates => {
  const fates = new Map<string, { readonly fate: TaskFate | undefined; readonly since: number }>();
  /** By the id of a twin: the id of its task. */
  const twins = new Map<string, string>();
  const met = new Set<string>();
  let newest: { readonly id: string; readonly command: string } | undefined;

  const happens = (kind: string, command: string, nth: number | string): boolean =>
    chance.happens(["fate", kind, command, nth].join(" "), weather[kind] ?? 0);

  const ageOf = (id: string, at: number): number => at - (fates.get(id)?.since ?? at);

  const isHidden = ({ id }: Task, at: number): boolean => {
    const fate = fates.get(id)?.fate;
    const age = ageOf(id, at);
    const hidden = (fate && HIDDEN_MS[fate]) ?? [];
    return hidden.some(([from, to]) => age >= from && age < to);
  };

  const shownTask = (task: Task, at: number): Task =>
    shownAs(task, fates.get(task.id)?.fate, ageOf(task.id, at));

  const withTwins = (task: Task): readonly Task[] => [
    task,
    ...[...twins].flatMap(([id, of]) =>
      of === task.id ? [{ ...task, id, created_resources: null }] : [],
    ),
  ];

  const decide = (taskId: string, command: string, nth: number | string, since: number): void => {
    const fate = TASK_FATES.find((kind) => happens(kind, command, nth));
    fates.set(taskId, { fate, since });
    if (fate) met.add(fate);
  };

  const twinsOf = (taskId: string, command: string, nth: number): readonly string[] => {
    if (!happens("twin task", command, nth)) return [];
    const isTriplet = chance.happens(`triplet ${command} ${nth}`, TRIPLET_SHARE);
    return (isTriplet ? ["2", "3"] : ["2"]).map((suffix) => `${taskId}-${suffix}`);
  };

  return {
    decide,
    more(taskId, command, nth, at) {
      const other = newest;
      newest = { id: taskId, command };
      const more = twinsOf(taskId, command, nth);
      for (const [index, twin] of more.entries()) {
        met.add("twin task");
        twins.set(twin, taskId);
        decide(twin, command, `${nth} twin${index || ""}`, at);
      }
      const isShared = other && other.command !== command && happens("shared task", command, nth);
      if (isShared) met.add("shared task");
      return [...more, ...(isShared ? [other.id] : [])];
    },
    met,
    of: (taskId) => fates.get(taskId)?.fate,
    trueId: (taskId) => twins.get(taskId) ?? taskId,
    asked(url) {
      const id = idIn(url) ?? "";
      const trueId = twins.get(id);
      return trueId === undefined ? url : new URL(url.href.replace(id, trueId));
    },
    failsAt(url, at) {
      const id = idIn(url) ?? "";
      return fates.get(id)?.fate === "unreadable" && ageOf(id, at) < UNREADABLE_MS;
    },
    shown(url, text, at) {
      const { pathname: path, searchParams } = url;
      if (fates.size === 0 || path.startsWith("/streaming/")) return text;
      const id = idIn(url);
      if (id !== undefined) {
        const found = taskSchema.parse(JSON.parse(text));
        const task = found.id === id ? found : { ...found, id, created_resources: null };
        return isHidden(task, at) ? undefined : JSON.stringify(shownTask(task, at));
      }
      if (!path.endsWith("/tasks")) return text;
      const { results, ...list } = listSchema.parse(JSON.parse(text));
      // A list by type shows all tasks: the engine looks for effects there, and a provider that
      // forgets what it created cannot be asked.
      const shown = searchParams.has("task_type")
        ? results
        : results.flatMap(withTwins).filter((task) => !isHidden(task, at));
      return JSON.stringify({ ...list, results: shown.map((task) => shownTask(task, at)) });
    },
  };
};
