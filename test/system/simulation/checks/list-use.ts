import type { Cloud } from "../cloud/cloud.ts";
import { BLIND } from "../plan/actors.ts";
import { hasMore, type ListRead, listAsked, listShown } from "./list-reads.ts";
import {
  hasEnded,
  isListOfTasks,
  type ShownTask,
  taskIdIn,
  tasksShown,
  watchTaskItems,
} from "./task-items.ts";

type Page = ReturnType<typeof tasksShown>;
type Reply = Parameters<Parameters<Cloud["provider"]["onReply"]>[0]>[0];

const PAGE_SIZE = 1_000;
/** More than the time between a list and the reads of tasks that it does not show. */
const ONE_ROUND_MS = 2_000;
/** Less than an account in trouble is left alone. */
const AT_ONCE_MS = 500;
/** More than the tasks that other pauses may end for at the same instant: so many, and half of the open ones. */
const MANY_TASKS = 4;
/** Tasks that began within this time of each other are looked for in one list of ended ones. */
const NEAR_MS = 60_000;

/** A list as its pages were read so far. */
interface Pages extends ListRead {
  /** Ids on its pages. */
  readonly shown: Set<string>;
  readonly endedAtFirst: (() => ReadonlySet<string>) | undefined;
}

/** One look of a machine at the tasks of one account. */
interface Look {
  open: Pages;
  ended: Pages | undefined;
  /** Whether a list of ended tasks was left before its last page. */
  leftEnded: boolean;
  /** When the last page was requested, epoch ms. */
  askedAt: number;
  /** Tasks that were read by themselves. */
  readonly alone: Set<string>;
  /** When those began that were found ended so, epoch ms by id. */
  readonly endedAlone: Map<string, number>;
}

const pagesBehind = ({ count, offset, size }: ListRead): number =>
  Math.ceil(count / PAGE_SIZE) - Math.ceil((offset + size) / PAGE_SIZE);
const pagesRead = ({ offset }: ListRead): number => offset / PAGE_SIZE + 1;

/**
 * Lists are used for what they can do: a page is read only while that may be cheaper than reads of what is missing, and
 * no task is read by itself that a list would have shown.
 */
export const watchListUse = (cloud: Cloud): void => {
  const { plan, provider, chronicle, timeline } = cloud;
  // After a change of the number of shards, two pollers may follow tasks of one account.
  if (plan.shards?.before !== plan.shards?.after) return;
  const tasks = watchTaskItems(cloud);
  const looks = new Map<string, Look>();
  /** How often lists have shown the end of a task to a machine, by machine, account and id. */
  const endShown = new Map<string, number>();

  const broken = (text: string): void => {
    chronicle.ifCalm.push({ invariant: 4, text });
  };

  /** At most so many tasks are still looked for. Another run may have found their ends meanwhile. */
  const missingIn = (account: string, { open, ended }: Look): number =>
    tasks
      .openIn(account, timeline.now() - ONE_ROUND_MS)
      .filter((id) => !open.shown.has(id) && !ended?.shown.has(id)).length;

  const begin = (account: string, url: URL, name: string): Look => {
    for (const id of tasks.openIn(account, timeline.now())) {
      const times = endShown.get(`${name} ${account}/${id}`) ?? 0;
      const items = tasks.find(account, id)?.byKey.values() ?? [];
      const [item, ...others] = items;
      // Each command that waits for the task may learn its end later, and a follower without the right to see it never.
      if (times > 1 && others.length === 0 && item?.followedBy === undefined)
        broken(`lists have shown the end of ${account}/${id} ${times} times, and it is still open`);
    }
    const open = listAsked(undefined, url, timeline.now());
    return {
      open: { ...open, shown: new Set(), endedAtFirst: undefined },
      ended: undefined,
      leftEnded: false,
      askedAt: timeline.now(),
      alone: new Set(),
      endedAlone: new Map(),
    };
  };

  /** A further page costs no more than a read of each task that is missing. */
  const checkPage = (account: string, look: Look, list: Pages): void => {
    const missing = missingIn(account, look);
    if (list.last === "shown" && pagesBehind(list) > missing)
      broken(`${pagesBehind(list)} pages were read for ${missing} tasks of ${account}`);
  };

  const beginEnded = (account: string, look: Look): void => {
    const missing = missingIn(account, look);
    if (hasMore(look.open))
      broken(`ended tasks of ${account} were listed although the list of open ones goes on`);
    if (missing < 2) broken(`ended tasks of ${account} were listed for ${missing} tasks`);
    if (look.ended && hasMore(look.ended)) look.leftEnded = true;
  };

  const readPage = (account: string, url: URL, name: string): void => {
    const key = `${name} ${account}`;
    const look = looks.get(key);
    const asked = listAsked(undefined, url, timeline.now());
    if (!look || (asked.kind === "open" && asked.offset === 0)) {
      looks.set(key, begin(account, url, name));
      return;
    }
    look.askedAt = timeline.now();
    if (asked.offset === 0) {
      beginEnded(account, look);
      look.ended = { ...asked, shown: new Set(), endedAtFirst: undefined };
      return;
    }
    const { kind } = asked;
    const list = look[kind];
    if (!list) return;
    checkPage(account, look, list);
    look[kind] = { ...list, ...listAsked(list, url, timeline.now()) };
  };

  /** The machine's look, if this read belongs to it. */
  const lookOf = (account: string, name: string): Look | undefined => {
    const look = looks.get(`${name} ${account}`);
    const { beganAt = 0 } = look?.ended ?? look?.open ?? {};
    return timeline.now() - beganAt < ONE_ROUND_MS ? look : undefined;
  };

  const readAlone = (account: string, id: string, name: string): void => {
    const look = lookOf(account, name);
    if (!look) return;
    const { open, ended, alone } = look;
    alone.add(id);
    const hasFailed = !["shown", "refused"].includes((ended ?? open).last);
    const isMany = alone.size > Math.max(MANY_TASKS, missingIn(account, look) / 2);
    if (hasFailed && timeline.now() - look.askedAt < AT_ONCE_MS && isMany) {
      const text = `${alone.size} tasks of ${account} were read by themselves after a failed list`;
      chronicle.violations.push({ invariant: 4, text });
    }
    const behind = hasMore(open) ? pagesBehind(open) : 0;
    if (behind > 0 && alone.size > Math.max(behind, pagesRead(open)))
      broken(`${alone.size} tasks of ${account} were read one by one instead of ${behind} pages`);
  };

  /** A task that runs, and is on each page of the list by its time of creation, was not found. */
  const foundOpen = (account: string, id: string, { open }: Look): void => {
    if (open.last !== "shown" || hasMore(open)) return;
    const [first, last] = [open.openAtFirst?.(), open.openAtLast?.()];
    if (!first?.has(id) || !last?.has(id) || first.size !== last.size) return;
    // If a task ended and another one began between two pages, the pages have shifted.
    const isSteady = [...first.keys()].every((other) => last.has(other));
    if (isSteady) broken(`task ${account}/${id} runs, and the list left it out`);
  };

  /** Tasks that began together, and are on the list of ended ones, were read one by one. */
  const foundEnded = (account: string, id: string, look: Look): void => {
    const { ended, leftEnded, endedAlone } = look;
    const [item, ...others] = tasks.find(account, id)?.byKey.values() ?? [];
    if (!item || others.length > 0 || item.followedBy !== undefined) return;
    const isRead = ended?.last === "shown" && !hasMore(ended) && !leftEnded;
    if (!isRead || !ended.endedAtFirst?.().has(id)) return;
    const near = [...endedAlone].filter(([, at]) => Math.abs(at - item.recordedAt) < NEAR_MS);
    endedAlone.set(id, item.recordedAt);
    if (near.length > 0)
      broken(`${near.length + 1} ended tasks of ${account} were read although the list has them`);
  };

  const noteShown = (account: string, name: string, shown: readonly ShownTask[]): void => {
    for (const task of shown.filter(hasEnded)) {
      const key = `${name} ${account}/${task.id}`;
      endShown.set(key, (endShown.get(key) ?? 0) + 1);
    }
  };

  provider.onRequest(({ account, caller, url, method }) => {
    const id = taskIdIn(url);
    if (method !== "GET" || account === BLIND) return;
    if (isListOfTasks(url)) readPage(account, url, caller.name);
    else if (id !== undefined) readAlone(account, id, caller.name);
  });

  const pageShown = (
    look: Look,
    url: URL,
    { status, page, whole }: Pick<Reply, "status" | "whole"> & { readonly page: Page | undefined },
  ): void => {
    const { kind } = listAsked(undefined, url, 0);
    const list = look[kind];
    if (!list) return;
    for (const task of page?.results ?? []) list.shown.add(task.id);
    look[kind] = {
      ...list,
      ...listShown(list, { status, page, open: whole?.open }),
      endedAtFirst: list.endedAtFirst ?? whole?.ended,
    };
  };

  provider.onReply(({ account, caller, url, status, whole }) => {
    const page = whole?.status === 200 ? tasksShown(url, whole) : undefined;
    if (isListOfTasks(url)) {
      const look = looks.get(`${caller.name} ${account}`);
      if (look) pageShown(look, url, { status, page, whole });
      noteShown(account, caller.name, page?.results ?? []);
      return;
    }
    const look = lookOf(account, caller.name);
    const [task] = page?.results ?? [];
    if (!look || !task) return;
    if (hasEnded(task)) foundEnded(account, task.id, look);
    else foundOpen(account, task.id, look);
  });
};
