import { listTasks } from "../../../lib/contract/tasks.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { lanes } from "../../../lib/engine/lane.ts";
import { FIRST_CHECK_MS, type Task, taskKey, tasks } from "../../../lib/engine/task.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import type { Ledger, LedgerItem } from "../../../lib/platform/ports/ledger.ts";

/**
 * Tasks of one account that begin at equal distances and last an hour, computed by their numbers. Number 0 began an
 * hour before the start.
 */
export const TASK_MS = 60 * 60 * 1_000;

const DEADLINE_MS = 2 * TASK_MS;

export interface Crowd {
  readonly account: string;
  /** Shard of the due index that has the account's tasks. */
  readonly shard: number;
  /** Number of open tasks at each instant. */
  readonly open: number;
  /** Epoch ms. */
  readonly startsAt: number;
}

const gapOf = ({ open }: Crowd): number => TASK_MS / open;
const createdAtOf = (crowd: Crowd, number: number): number =>
  Math.floor(crowd.startsAt - TASK_MS + number * gapOf(crowd));
const idOf = ({ shard }: Crowd, number: number): string =>
  `0198c0de-0000-7000-8${String(shard).padStart(3, "0")}-${String(number).padStart(12, "0")}`;
/** The shard in the id of a task, which its command has too. */
export const shardIn = (key: string): number => Number(/-8(\d{3})-\d{12}$/.exec(key)?.[1]);
export const numberOf = (id: string): number => Number(id.slice(-12));

/** The end of the task of a command, epoch ms. @param commandId as in the command's events */
export const endedAt = (crowd: Crowd, commandId: string): number =>
  createdAtOf(crowd, numberOf(commandId)) + TASK_MS;

/** The first number that began at this instant or later. */
const firstSince = (crowd: Crowd, at: number): number => {
  let number = Math.max(0, Math.floor((at - crowd.startsAt + TASK_MS) / gapOf(crowd)) - 1);
  while (createdAtOf(crowd, number) < at) number += 1;
  return number;
};

/** Numbers `from` to `to - 1`. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The tasks that run at this instant. */
const openSpan = (crowd: Crowd, now: number): Span => ({
  from: firstSince(crowd, now - TASK_MS + 1),
  to: firstSince(crowd, now + 1),
});

const recordOf = (crowd: Crowd, number: number, now: number) => {
  const created = createdAtOf(crowd, number);
  const isOpen = created + TASK_MS > now;
  const text = (at: number): string => new Date(at).toISOString();
  return {
    ...{ id: idOf(crowd, number), task_type: "update_container", created_on: text(created) },
    ...{ state: isOpen ? "RUNNING" : "FINISHED", error: null, created_resources: null },
    ...{ updated_on: text(created), finished_on: isOpen ? null : text(created + TASK_MS) },
    ...{ project_id: 1_234_567, region_id: 76, user_id: 11, client_id: 1, user_client_id: 1 },
    ...{ data: { name: `container-${number}` }, detailed_state: null, request_id: null },
    ...{ job_id: null, lifecycle_policy_id: null, schedule_id: null },
    ...{ acknowledged_at: null, acknowledged_by: null },
  };
};

const listed = (crowd: Crowd, url: URL, now: number) => {
  const time = (name: string, otherwise: number): number =>
    Date.parse(url.searchParams.get(name) ?? "") || otherwise;
  const open = openSpan(crowd, now);
  const isOpen = url.searchParams.getAll("state").includes("RUNNING");
  const [from, to] = isOpen ? [open.from, open.to] : [0, open.from];
  const first = Math.max(from, firstSince(crowd, time("from_timestamp", 0)));
  const end = Math.min(to, firstSince(crowd, time("to_timestamp", now) + 1));
  const [offset, limit] = ["offset", "limit"].map((name) => Number(url.searchParams.get(name)));
  const begin = first + (offset ?? 0);
  const length = Math.max(0, Math.min(limit ?? 0, end - begin));
  return {
    count: Math.max(0, end - first),
    results: Array.from({ length }, (_, index) => recordOf(crowd, begin + index, now)),
  };
};

/** The provider's answer to a read of tasks. */
export const answer = (crowd: Crowd, request: Request, now: number): Response => {
  const url = new URL(request.url);
  return Response.json(
    url.pathname === listTasks.path
      ? listed(crowd, url, now)
      : recordOf(crowd, numberOf(url.pathname), now),
  );
};

const taskOf = (crowd: Crowd, number: number): Task => {
  const recordedAt = createdAtOf(crowd, number);
  const id = idOf(crowd, number);
  return {
    ...{ account: crowd.account, id, command: commandKey({ sender: LOCAL_SENDER, id }) },
    ...{ operation: "update-container", recordedAt, deadline: recordedAt + DEADLINE_MS },
    ...{ lookAt: recordedAt + FIRST_CHECK_MS, state: { status: "open" } },
  };
};

const commandOf = (crowd: Crowd, number: number): Command => {
  const at = createdAtOf(crowd, number);
  const id = idOf(crowd, number);
  const params = { project_id: 1_234_567, region_id: 76, container_name: `container-${number}` };
  return {
    ...{ sender: LOCAL_SENDER, id, account: crowd.account, operation: "update-container" },
    lane: `${crowd.account}/container/1234567/76/container-${number}`,
    ...{ fingerprint: "0".repeat(64), correlationId: id, causationId: id },
    ...{ acceptedAt: at, deadline: at + DEADLINE_MS, params },
    request: { params, query: {}, body: { timeout: 60 } },
    attempts: [{ startedAt: at, endedAt: at, disposition: "answered" }],
    ...{ attemptCount: 1, lostReplies: 0, outbox: [] },
    state: { status: "following", tasks: [{ id }], tasksRecorded: true },
  };
};

/** The item that a write of a record would store. */
const itemOf = async (
  write: (ledger: Ledger) => Promise<unknown>,
): Promise<LedgerItem | undefined> => {
  let item: LedgerItem | undefined;
  await write({
    read: () => Promise.resolve(undefined),
    write: (given) => {
      item = given;
      return Promise.resolve("written");
    },
    listDue: () => Promise.resolve([]),
    list: () => Promise.resolve([]),
  });
  return item;
};

/** The item of a crowd's task, command or lane, as run-commands has written it. */
export const givenItem = (crowd: Crowd, key: string): Promise<LedgerItem | undefined> => {
  const number = Number(/(\d+)$/.exec(key)?.[1]);
  const command = commandOf(crowd, number);
  if (key.startsWith(`${tasks.kind}#`)) {
    const task = taskOf(crowd, number);
    return itemOf((ledger) => tasks.write(ledger, taskKey(task), undefined, task));
  }
  if (key.startsWith(`${commands.kind}#`)) {
    return itemOf((ledger) => commands.write(ledger, commandKey(command), undefined, command));
  }
  const lane = { holder: commandKey(command), waiting: [], changedAt: command.acceptedAt };
  return itemOf((ledger) => lanes.write(ledger, command.lane, undefined, lane));
};

/** Number, key and due time of the tasks that were due up to `until` and began up to `now`. */
export function* dueTasks(
  crowd: Crowd,
  { from, until, now }: { readonly from: number; readonly until: number; readonly now: number },
): Generator<{ readonly number: number; readonly key: string; readonly dueAt: number }> {
  const end = Math.min(firstSince(crowd, until - FIRST_CHECK_MS + 1), openSpan(crowd, now).to);
  for (let number = firstSince(crowd, from - FIRST_CHECK_MS); number < end; number += 1) {
    const key = `${tasks.kind}#${crowd.account}/${idOf(crowd, number)}`;
    yield { number, key, dueAt: createdAtOf(crowd, number) + FIRST_CHECK_MS };
  }
}
