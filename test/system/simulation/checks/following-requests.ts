import { POLLER_LEASE } from "../../../../lib/engine/poller/poll.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { BLIND, NARROW_SENDER } from "../plan/actors.ts";
import {
  type ListRead,
  listAsked,
  listShown,
  metInList,
  problemOfPage,
  problemOfRead,
} from "./list-reads.ts";
import {
  hasEnded,
  isListOfTasks,
  type ShownTask,
  type TaskItem,
  taskIdIn,
  taskItemOf,
  tasksShown,
} from "./task-items.ts";

const POLLER_ITEM = `lease#${POLLER_LEASE}`;
/** From this many tasks on, a list is cheaper than reading each; the engine lists from five on. */
const MANY_TASKS = 6;
/** Less than the shortest pause between two checks of a task, 2 s less a quarter. */
const SHORTEST_PAUSE_MS = 1_400;
/** A crash delays a task's record. The engine lists tasks from a minute before it; clocks differ. */
const LATE_RECORD_MS = 30_000;

type Name = { readonly name: string };

/** What one machine does about the tasks of one account; instants are numbers of events so far. */
interface Rounds {
  readonly itemReadAt: Map<string, number>;
  /** Items of open tasks that it read since its last request: their keys by task. */
  fresh: Map<string, Set<string>>;
  /** The tasks of its last round, likewise, and when that began to ask. */
  round: ReadonlyMap<string, ReadonlySet<string>>;
  roundAt: number;
  list: ListRead | undefined;
  /** When it was shown the end of a task that it checked. */
  readonly endShownAt: Map<string, number>;
  /** When the provider answered for an item's task, epoch ms, by the item's key. */
  readonly answeredAt: Map<string, number>;
}

const noRounds = (): Rounds => ({
  itemReadAt: new Map(),
  fresh: new Map(),
  round: new Map(),
  roundAt: 0,
  list: undefined,
  endShownAt: new Map(),
  answeredAt: new Map(),
});

/**
 * Following costs no request without need. A round of a machine reads the items of its tasks first, and
 * then asks the provider: for a list if that pays, and then for those tasks that the list does not show.
 */
export const watchFollowingRequests = (cloud: Cloud): void => {
  const { plan, ledger, provider, chronicle, timeline } = cloud;
  const rounds = new Map<string, Rounds>();
  /** The items of a task by their keys, by account and task. */
  const itemsOf = new Map<string, Map<string, TaskItem>>();
  let events = 0;

  const roundsOf = (account: string, { name }: Name): Rounds => {
    const key = `${name} ${account}`;
    const known = rounds.get(key) ?? noRounds();
    rounds.set(key, known);
    return known;
  };

  const broken = (text: string): void => {
    chronicle.violations.push({ invariant: 4, text });
  };
  const brokenIfCalm = (text: string): void => {
    chronicle.ifCalm.push({ invariant: 4, text });
  };

  ledger.onRead((item, by) => {
    const task = taskItemOf(item);
    if (task?.state.status !== "open") return;
    // An attempt reads the items of its tasks too; a round reads those that are due.
    if ((item.dueAt ?? 0) > by.clock.now()) return;
    const own = roundsOf(task.account, by);
    events += 1;
    own.itemReadAt.set(task.id, events);
    // The round before ended without a request.
    if (own.fresh.get(task.id)?.has(item.key)) own.fresh = new Map();
    own.fresh.set(task.id, (own.fresh.get(task.id) ?? new Set()).add(item.key));
  });

  /** A run that ends leaves to the next one what it was shown last. */
  const forgetEnds = ({ name }: Name): void => {
    for (const [key, own] of rounds) {
      if (!key.startsWith(`${name} `)) continue;
      own.endShownAt.clear();
      own.answeredAt.clear();
    }
  };

  ledger.onWrite((item, _previous, by) => {
    if (item.key === POLLER_ITEM && item.value.until === 0) forgetEnds(by);
    const task = taskItemOf(item);
    if (!task) return;
    const name = `${task.account}/${task.id}`;
    itemsOf.set(name, (itemsOf.get(name) ?? new Map<string, TaskItem>()).set(item.key, task));
    roundsOf(task.account, by).fresh.delete(task.id);
  });

  /** The creation from which on a list has to show the task, epoch ms. */
  const listedSince = (items: readonly TaskItem[]): number => {
    const isBeside = items.some(({ followedBy, sharedAs }) => followedBy || sharedAs === "other");
    return isBeside ? 0 : Math.min(...items.map(({ recordedAt }) => recordedAt)) - LATE_RECORD_MS;
  };

  /** A run requests a refused list once only. */
  const readWithoutList = (account: string, { round }: Rounds): void => {
    if (round.size < MANY_TASKS || plan.provider.crowd?.isListRefused) return;
    if (account === BLIND) chronicle.met.add("many tasks of an account without lists");
    else brokenIfCalm(`${round.size} tasks of ${account} were read without a list`);
  };

  const beginRound = (own: Rounds): void => {
    if (own.fresh.size === 0) return;
    own.round = own.fresh;
    own.fresh = new Map();
    own.roundAt = events;
  };

  /** One answer serves all commands that wait for a task; after a list some tasks may be read again. */
  const readTooSoon = (account: string, id: string, { round, answeredAt }: Rounds): void => {
    for (const item of round.get(id) ?? []) {
      const sinceMs = timeline.now() - (answeredAt.get(item) ?? 0);
      const text = `task ${account}/${id} was read again after ${sinceMs} ms`;
      if (sinceMs < SHORTEST_PAUSE_MS) brokenIfCalm(text);
    }
  };

  /** A list also shows tasks of other rounds, which it was not requested for. */
  const noteAnswer = (
    task: ShownTask,
    isAlone: boolean,
    { round, endShownAt, answeredAt }: Rounds,
  ): void => {
    const items = round.get(task.id);
    if (items && hasEnded(task)) endShownAt.set(task.id, events);
    if (isAlone) for (const item of items ?? []) answeredAt.set(item, timeline.now());
  };

  const readAlone = (account: string, id: string, own: Rounds): void => {
    const name = `${account}/${id}`;
    const items = [...(itemsOf.get(name)?.values() ?? [])];
    const itemReadAt = own.itemReadAt.get(id) ?? events;
    const listOfRound = own.list && own.list.beganAt >= own.roundAt ? own.list : undefined;
    const problem = listOfRound && problemOfRead(listOfRound, id, listedSince(items));
    if (problem) broken(`task ${name} was read by itself, ${problem}`);
    if (!listOfRound) readWithoutList(account, own);
    // A task without rights for its follower looks missing to it, and is read until it is given up.
    const isSeen = items.length === 1 && items[0]?.followedBy !== NARROW_SENDER;
    if (isSeen && (own.endShownAt.get(id) ?? events) < itemReadAt) {
      brokenIfCalm(`task ${name} was read again after its end was shown`);
    }
  };

  provider.onRequest(({ account, caller, url, method }) => {
    const id = taskIdIn(url);
    if (method !== "GET" || (id === undefined && !isListOfTasks(url))) return;
    const own = roundsOf(account, caller);
    events += 1;
    beginRound(own);
    if (id !== undefined) {
      if (!caller.hasJumped()) readTooSoon(account, id, own);
      readAlone(account, id, own);
      return;
    }
    const problem = problemOfPage(own.list, url);
    if (problem) broken(`${caller.name} ${problem}`);
    if (account === BLIND)
      broken(`${caller.name} requested a list, which ${account} does not have`);
    own.list = listAsked(own.list, url, events);
  });

  provider.onReply(({ account, caller, url, status, whole }) => {
    const own = roundsOf(account, caller);
    events += 1;
    const shown = whole?.status === 200 ? tasksShown(url, whole.text) : undefined;
    for (const task of shown ?? []) noteAnswer(task, !isListOfTasks(url), own);
    if (!isListOfTasks(url) || !own.list) return;
    own.list = listShown(own.list, { status, page: shown, open: whole?.open });
    for (const name of metInList(own.list)) chronicle.met.add(name);
  });
};
