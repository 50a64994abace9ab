import * as z from "zod";
import { STARTS_AT } from "../plan/actors.ts";
import type { Crowd, ForeignTask } from "../plan/crowd.ts";

const ownTaskSchema = z.looseObject({
  id: z.string(),
  state: z.string(),
  created_on: z.string(),
  finished_on: z.string().nullable(),
});
type OwnTask = z.output<typeof ownTaskSchema>;
const ownListSchema = z.object({ results: z.array(ownTaskSchema) });

/** One task in the lists of a crowded provider. */
interface Entry {
  readonly id: string;
  readonly createdAt: number;
  /** Before, it is NEW. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** Its record, as the list shows it before it begins, and while it runs. */
  readonly waiting: string;
  readonly running: string;
  readonly ended: string;
  readonly end: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /**
   * All tasks that run according to the lists at the time of the answer, on any page: the instant of
   * creation (epoch ms) by id.
   */
  readonly open?: () => ReadonlyMap<string, number>;
  /** All tasks that have ended according to the lists at that time. */
  readonly ended?: () => ReadonlySet<string>;
}

/** The end of another client's task, as the checks of all tasks read it. */
interface ForeignEnd {
  readonly id: string;
  readonly state: string;
  readonly project_id: number;
}

/** The tasks of a provider with many clients: pages of thousands, which shift and lag. */
export interface CrowdedTasks {
  /**
   * The provider's answer to a request for a list of tasks, or for another client's task; undefined:
   * the service answers.
   * @param at the provider's time, epoch ms
   * @param readOwn reads the first page of our tasks, with the decisions about them applied
   */
  answer(url: URL, at: number, readOwn: () => Promise<string>): Promise<Answer | undefined>;
  ends(): readonly ForeignEnd[];
  /** Coverage by name. */
  readonly met: ReadonlySet<string>;
}

const NOT_FOUND: Answer = { status: 404, text: '{"message":"task not found"}' };
const FORBIDDEN: Answer = { status: 403, text: '{"message":"no right to list tasks"}' };
const TASK_PATH = /\/tasks\/([^/]+)$/;
const LIST_PATH = /\/cloud\/v1\/tasks$/;

/** Short, because a run reads hundreds of thousands: the contract requires no more of a task. */
const recordOf = ({ id, project }: ForeignTask, state: string, isWhole: boolean): string =>
  JSON.stringify({
    id,
    state,
    ...(isWhole && { project_id: project }),
    ...(state === "ERROR" && { error: "the quota is exceeded" }),
  });

const byCreation = (a: Entry, b: Entry): number =>
  a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

const entryOf = (own: OwnTask): Entry => {
  const hasEnded = own.state === "FINISHED" || own.state === "ERROR";
  const running = { ...own, state: "RUNNING", finished_on: null, created_resources: null };
  const record = JSON.stringify(own);
  return {
    id: own.id,
    createdAt: Date.parse(own.created_on),
    begunAt: own.state === "NEW" ? Number.POSITIVE_INFINITY : 0,
    endedAt: hasEnded ? Date.parse(own.finished_on ?? own.created_on) : Number.POSITIVE_INFINITY,
    waiting: record,
    running: hasEnded ? JSON.stringify(running) : record,
    ended: record,
    end: own.state,
  };
};

export const createCrowdedTasks = ({
  foreign,
  inputs,
  lagMs,
  isListRefused,
  showsEnded,
}: Crowd): CrowdedTasks => {
  const followed = new Set(inputs.map(({ asking }) => Object(asking.data.params).task_id));
  const byId = new Map(foreign.map((task) => [task.id, task]));
  const unsorted = foreign.map((task): Entry => {
    const isWhole = followed.has(task.id);
    return {
      id: task.id,
      createdAt: STARTS_AT + task.createdMs,
      begunAt: STARTS_AT + task.begunMs,
      endedAt: STARTS_AT + task.endsMs,
      waiting: recordOf(task, "NEW", isWhole),
      running: recordOf(task, "RUNNING", isWhole),
      ended: recordOf(task, task.end, isWhole),
      end: task.end,
    };
  });
  // Every list sorts these and ours, which takes a fraction of the time when most are in order.
  const others = unsorted.sort(byCreation);

  const met = new Set<string>();

  const single = (task: ForeignTask, at: number): Answer => {
    const afterMs = at - STARTS_AT;
    if (afterMs < task.createdMs) return NOT_FOUND;
    const open = afterMs < task.begunMs ? "NEW" : "RUNNING";
    const state = afterMs < task.endsMs ? open : task.end;
    return { status: 200, text: recordOf(task, state, true) };
  };

  const list = async (
    { searchParams: query }: URL,
    at: number,
    readOwn: () => Promise<string>,
  ): Promise<Answer> => {
    const { results } = ownListSchema.parse(JSON.parse(await readOwn()));
    const own = results.map(entryOf);
    const known = [...others, ...own].filter(({ createdAt }) => createdAt <= at - lagMs.start);
    const isOpen = ({ endedAt }: Entry): boolean => endedAt > at - lagMs.end;
    const states = query.getAll("state");
    const stateOf = (entry: Entry): string => {
      if (!isOpen(entry)) return entry.end;
      return at < entry.begunAt ? "NEW" : "RUNNING";
    };
    const isWanted = (entry: Entry): boolean =>
      states.length === 0 || states.includes(stateOf(entry));
    const from = Date.parse(query.get("from_timestamp") ?? "1970-01-01");
    const to = Date.parse(query.get("to_timestamp") ?? "9999-12-31");
    const wanted = known
      .filter((entry) => entry.createdAt >= from && entry.createdAt <= to && isWanted(entry))
      .sort(byCreation);
    if (query.get("order_by") !== "asc") wanted.reverse();
    const offset = Number(query.get("offset") ?? 0);
    const page = wanted.slice(offset, offset + Number(query.get("limit") ?? 10));
    if (own.some(({ createdAt }) => createdAt > at - lagMs.start)) met.add("list lacks a new task");
    if (page.some((entry) => entry.endedAt <= at && isOpen(entry)))
      met.add("list has an ended task");
    const shown = page.map((entry) => {
      if (!isOpen(entry) || (entry.endedAt <= at && showsEnded)) return entry.ended;
      return at < entry.begunAt ? entry.waiting : entry.running;
    });
    let open: ReadonlyMap<string, number> | undefined;
    return {
      status: 200,
      text: `{"count":${wanted.length},"results":[${shown.join(",")}]}`,
      open: () => {
        open ??= new Map(known.filter(isOpen).map(({ id, createdAt }) => [id, createdAt]));
        return open;
      },
      ended: () => new Set(known.filter((entry) => !isOpen(entry)).map(({ id }) => id)),
    };
  };

  return {
    async answer(url, at, readOwn) {
      const task = byId.get(TASK_PATH.exec(url.pathname)?.[1] ?? "");
      if (task) return single(task, at);
      if (!LIST_PATH.test(url.pathname) || url.searchParams.has("task_type")) return undefined;
      return isListRefused ? FORBIDDEN : list(url, at, readOwn);
    },
    met,
    ends: () => foreign.map(({ id, end, project }) => ({ id, state: end, project_id: project })),
  };
};
