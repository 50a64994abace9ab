import { pollerLease } from "../../../../lib/engine/poller/poll.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { BLIND } from "../plan/actors.ts";
import {
  hasMore,
  type ListRead,
  listAsked,
  listShown,
  metAfterList,
  metInList,
  problemOfPage,
} from "./list-reads.ts";
import {
  hasEnded,
  isListOfTasks,
  type ShownTask,
  type TaskItems,
  taskIdIn,
  tasksShown,
  watchTaskItems,
} from "./task-items.ts";

/** Start of the keys of the leases of all shards. */
const POLLER_ITEM = `lease#${pollerLease(0)}`;
/** Less than the shortest pause between two checks of a task, and between two lists: 3 s, from the request on. */
const SHORTEST_PAUSE_MS = 2_500;
/**
 * A task is first checked two seconds after it was recorded, also for a second command that waits for it, and the due
 * index may show that record late.
 */
const FIRST_CHECK_MS = 5_000;
/** A further command that waits for the task may wait so long for its own first check. */
const FIRST_CHECK_BESIDE_MS = 15_000;
/** More than the time between a list and the reads of tasks that it does not show. */
const ONE_ROUND_MS = 2_000;
/** More than the due index lags, and clocks differ. */
const RECORDED_MS = 8_000;
/** Less than the pause between two checks of a task, and than the longest one. */
const PART_OF_AGE = 0.05;
const LONGEST_PAUSE_MS = 50_000;
/** From this many tasks on, one list is cheaper than reading each; the engine lists from two on. */
const MANY_TASKS = 4;
/** A refused or too long list is asked for again after this time. */
const LISTS_MS = 5 * 60_000;

interface Caller {
  readonly name: string;
  hasJumped(): boolean;
}

/** What the machine that followed tasks last knows about those of one account; instants are epoch ms. */
interface Known {
  /** When the last list of open tasks was answered. */
  listedAt: number;
  /** When a list, or a read of the task, showed it to the machine. */
  readonly listShownAt: Map<string, number>;
  readonly readAt: Map<string, number>;
  readonly endShownAt: Map<string, number>;
  /** Reads of single tasks in this instant's round. */
  readonly alone: Map<string, number>;
  /** Tasks that were last read by themselves because a whole list did not show them: they keep the pause of lists. */
  readonly notListed: Set<string>;
}

const nothingKnown = (): Known => ({
  listedAt: 0,
  listShownAt: new Map(),
  readAt: new Map(),
  endShownAt: new Map(),
  alone: new Map(),
  notListed: new Set(),
});

/**
 * Following costs no request without need: lists in place of many reads, pages only while they are cheaper than
 * reads, no task that a list has just shown, none with a known end, and nothing more often than the pauses allow.
 */
export const watchFollowingRequests = (cloud: Cloud): void => {
  const { plan, ledger, provider, chronicle, timeline } = cloud;
  const tasks = watchTaskItems(cloud);
  const known = new Map<string, Known>();
  /** The newest list of each machine and account. */
  const lists = new Map<string, ListRead>();
  let lastMachine = "";
  /** The last machine that ran the poller of a shard, by the key of its lease. */
  const lastRunners = new Map<string, string>();

  /** A machine forgets what it knows when another one has followed tasks, or has left its note in between. */
  const forgetAtChange = ({ name }: Pick<Caller, "name">): void => {
    if (name !== lastMachine) known.clear();
    lastMachine = name;
  };
  ledger.onRead((item, { name }) => {
    if (!item.key.startsWith(POLLER_ITEM) || name !== lastMachine) return;
    if (lastRunners.get(item.key) !== name) known.clear();
  });
  const knownTo = (account: string): Known => {
    const found = known.get(account) ?? nothingKnown();
    known.set(account, found);
    return found;
  };
  const broken = (text: string): void => {
    chronicle.violations.push({ invariant: 4, text });
  };
  // After a change of the number of shards, two pollers may follow tasks of one account.
  const { before = 1, after = 1 } = plan.shards ?? {};
  const brokenIfCalm = (text: string): void => {
    if (before === after) chronicle.ifCalm.push({ invariant: 4, text });
  };

  ledger.onWrite((item, _previous, by) => {
    if (item.key.startsWith(POLLER_ITEM)) lastRunners.set(item.key, by.name);
  });

  /** Tasks of an account with a list are read one by one only if the list is refused, or too long. */
  const readWithoutList = (account: string, own: Known, list: ListRead | undefined): void => {
    const now = timeline.now();
    for (const [id, at] of own.alone) if (at < now - ONE_ROUND_MS) own.alone.delete(id);
    if (own.alone.size < MANY_TASKS || plan.provider.crowd?.isListRefused) return;
    if (account === BLIND) chronicle.met.add("many tasks of an account without lists");
    else if (!list || list.beganAt < now - LISTS_MS - ONE_ROUND_MS)
      brokenIfCalm(`${own.alone.size} tasks of ${account} were read without a list`);
  };

  /** Whether the end was shown to the machine, or is recorded, so that no command waits for this read. */
  const isEndKnown = (own: Known, id: string, items: TaskItems | undefined): boolean => {
    // Each command that waits for the task may learn its end later, and a follower without the right to see it never.
    const [item, ...others] = items?.byKey.values() ?? [];
    if (!item || others.length > 0 || item.followedBy !== undefined) return false;
    const passedMs = (at: number | undefined): number =>
      at === undefined ? 0 : timeline.now() - at;
    return (
      passedMs(own.endShownAt.get(id)) > ONE_ROUND_MS || passedMs(item.state.endedAt) > RECORDED_MS
    );
  };

  /** After a list that was left early, a task that was read by itself keeps the pause of its age, which is 7.5 % of it. */
  const isEarly = (own: Known, id: string, items: TaskItems | undefined): boolean => {
    const readAt = own.readAt.get(id) ?? 0;
    const recordedAt = items?.newestAt ?? readAt;
    const isKept =
      Math.max(recordedAt, own.listShownAt.get(id) ?? 0) < readAt && !own.notListed.has(id);
    const now = timeline.now();
    return isKept && now - readAt < Math.min(LONGEST_PAUSE_MS, PART_OF_AGE * (now - recordedAt));
  };

  /** Why the machine did not need this read of a task. */
  const wasteOf = (
    own: Known,
    id: string,
    { items, list }: { readonly items: TaskItems | undefined; readonly list: ListRead | undefined },
  ): string | undefined => {
    const now = timeline.now();
    const since = (at: number | undefined): number => now - (at ?? Number.NEGATIVE_INFINITY);
    if (since(own.listShownAt.get(id)) < ONE_ROUND_MS) return "although a list has just shown it";
    const readAt = own.readAt.get(id);
    const { newestAt, byKey } = items ?? { newestAt: now, byKey: new Map() };
    const firstCheckMs = byKey.size > 1 ? FIRST_CHECK_BESIDE_MS : FIRST_CHECK_MS;
    const isNew = readAt === undefined || newestAt + firstCheckMs > readAt;
    // A task that a list does not show is read at once.
    const isGone = since(list?.beganAt) < ONE_ROUND_MS;
    if (!isNew && !isGone && since(readAt) < SHORTEST_PAUSE_MS)
      return `again after ${since(readAt)} ms`;
    if (isGone && list && hasMore(list) && isEarly(own, id, items))
      return `again after ${since(readAt)} ms, because a list was left early`;
    return isEndKnown(own, id, items) ? "after its end was known" : undefined;
  };

  const readAlone = (account: string, id: string, caller: Caller): void => {
    const name = `${account}/${id}`;
    const own = knownTo(account);
    const list = lists.get(`${caller.name} ${account}`);
    own.alone.set(id, timeline.now());
    readWithoutList(account, own, list);
    if (list) for (const met of metAfterList(list)) chronicle.met.add(met);
    const items = tasks.find(account, id);
    const waste = caller.hasJumped() ? undefined : wasteOf(own, id, { items, list });
    if (waste) brokenIfCalm(`task ${name} was read by itself ${waste}`);
    const isListWhole = list && timeline.now() - list.beganAt < ONE_ROUND_MS && !hasMore(list);
    if (isListWhole) own.notListed.add(id);
    else own.notListed.delete(id);
  };

  const readPage = (account: string, url: URL, caller: Caller): void => {
    if (account === BLIND)
      broken(`${caller.name} requested a list, which ${account} does not have`);
    const key = `${caller.name} ${account}`;
    const problem = problemOfPage(lists.get(key), url);
    if (problem && before === after) broken(`${caller.name} ${problem}`);
    const list = listAsked(lists.get(key), url, timeline.now());
    lists.set(key, list);
    const sinceMs = timeline.now() - knownTo(account).listedAt;
    const isFirst = list.kind === "open" && list.offset === 0;
    if (isFirst && sinceMs < SHORTEST_PAUSE_MS && !caller.hasJumped())
      brokenIfCalm(`${caller.name} listed the tasks of ${account} again after ${sinceMs} ms`);
  };

  provider.onRequest(({ account, caller, url, method }) => {
    const id = taskIdIn(url);
    if (method !== "GET" || (id === undefined && !isListOfTasks(url))) return;
    forgetAtChange(caller);
    if (id === undefined) readPage(account, url, caller);
    else readAlone(account, id, caller);
  });

  const noteShown = (own: Known, shown: readonly ShownTask[], at: Map<string, number>): void => {
    const now = timeline.now();
    for (const task of shown) {
      // The list of ended tasks may have one that the list of open ones has just shown, and that is not looked for there.
      const isIncidental = now - (own.listShownAt.get(task.id) ?? 0) < ONE_ROUND_MS;
      at.set(task.id, now);
      if (hasEnded(task) && !isIncidental && !own.endShownAt.has(task.id)) {
        own.endShownAt.set(task.id, now);
      }
    }
  };

  provider.onReply(({ account, caller, url, status, whole }) => {
    const isList = isListOfTasks(url);
    const page = whole?.status === 200 ? tasksShown(url, whole) : undefined;
    const own = caller.name === lastMachine ? knownTo(account) : nothingKnown();
    noteShown(own, page?.results ?? [], isList ? own.listShownAt : own.readAt);
    const key = `${caller.name} ${account}`;
    const asked = lists.get(key);
    if (!isList || !asked) return;
    const list = listShown(asked, { status, page, open: whole?.open });
    lists.set(key, list);
    if (list.kind === "open") own.listedAt = timeline.now();
    for (const name of metInList(list, chronicle.met)) chronicle.met.add(name);
  });
};
