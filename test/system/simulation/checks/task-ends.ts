import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { NARROW_SENDER } from "../plan/actors.ts";
import { hasEnded, type TaskItem, taskIdIn, taskItemOf, tasksShown } from "./task-items.ts";

/** A task is unknown after five minutes; clocks differ. */
const MIN_UNKNOWN_MS = 4 * 60_000;
/** The longest pause between two checks is a minute, and the schedule's period another one. */
const MAX_PAUSE_MS = 2 * 60_000;
/** An index that lags may hide a task from a whole query, and those are a minute apart. */
const LAG_MS = 4 * 60_000;
/** A new task waits for two seconds, and for the next list of its account. */
const FIRST_CHECK_MS = 15_000;

/** When the provider showed a task to any machine, epoch ms. */
interface Sightings {
  readonly at: number[];
  isEndShown: boolean;
  firstMissingAt: number | undefined;
}

/**
 * Invariant 5: the end of a task is recorded only after the provider showed it to this account, and as
 * unknown only after the task was missing for long. Without faults no task waits long for its check.
 */
export const watchTaskEnds = (cloud: Cloud): void => {
  const { ledger, provider, timeline, chronicle } = cloud;
  const sightings = new Map<string, Sightings>();
  const { violations, ifCalm, ifIndexLags } = chronicle;

  const end = ({ account, id, state, followedBy, recordedAt }: TaskItem, seen: Sightings): void => {
    const name = `task ${account}/${id}`;
    if (["finished", "failed"].includes(state.status) && !seen.isEndShown) {
      const text = `${name} ${state.status}, before the provider showed its end`;
      violations.push({ invariant: 5, text });
    }
    const missingMs = timeline.now() - (seen.firstMissingAt ?? timeline.now());
    if (state.status === "unknown" && followedBy !== NARROW_SENDER && missingMs < MIN_UNKNOWN_MS) {
      violations.push({ invariant: 5, text: `${name} is unknown after ${missingMs} ms` });
    }
    // Before this item another one of the same task may have been checked.
    const checks = seen.at.filter((at) => at > recordedAt);
    const waits = [...checks, timeline.now()].map(
      (at, index) => at - (checks[index - 1] ?? recordedAt),
    );
    const longestMs = Math.max(...waits);
    const backlogMs = (2_000 * sightings.size) / cloud.requestsPerSecond;
    if (longestMs > MAX_PAUSE_MS + backlogMs) {
      const rule = longestMs > MAX_PAUSE_MS + backlogMs + LAG_MS ? ifIndexLags : ifCalm;
      rule.push({ invariant: 4, text: `${name} was not checked for ${longestMs} ms` });
    }
    const [firstMs = 0] = waits;
    if (firstMs > FIRST_CHECK_MS + backlogMs) {
      ifCalm.push({ invariant: 4, text: `${name} was first checked after ${firstMs} ms` });
    }
  };

  ledger.onWrite((item, previous) => {
    const task = taskItemOf(item);
    if (!task) return;
    const name = `${task.account}/${task.id}`;
    const seen = sightings.get(name) ?? { at: [], isEndShown: false, firstMissingAt: undefined };
    sightings.set(name, seen);
    const wasOpen = previous && taskItemOf(previous)?.state.status === "open";
    if (wasOpen && task.state.status !== "open") end(task, seen);
  });

  provider.onReply(({ account, url, status, whole }) => {
    if (whole?.status === 200) {
      for (const task of tasksShown(url, whole).results) {
        const seen = sightings.get(`${account}/${task.id}`);
        seen?.at.push(timeline.now());
        if (seen && hasEnded(task)) seen.isEndShown = true;
      }
    }
    const missing = status === 404 && sightings.get(`${account}/${taskIdIn(url)}`);
    if (!missing) return;
    missing.at.push(timeline.now());
    missing.firstMissingAt ??= timeline.now();
  });
};

const PUBLISHED_ENDS = new Set(["TaskFinished", "TaskFailed"]);

/** Invariant 1: each command publishes the end of each of its tasks with one id. */
export const checkTaskEnds = async ({ bus }: Cloud): Promise<readonly Violation[]> => {
  const ids = new Map<string, Set<string>>();
  for (const { detailType, metadata, data, id } of bus.seen()) {
    if (!PUBLISHED_ENDS.has(detailType)) continue;
    const end = `${metadata.sender}/${metadata.commandId}: task ${data.taskId}`;
    ids.set(end, (ids.get(end) ?? new Set()).add(id));
  }
  return [...ids]
    .filter(([, events]) => events.size > 1)
    .map(([end]) => ({ invariant: 1, text: `${end} has several events of its end` }));
};

/**
 * A command publishes the ends of its tasks before its own, unless the bus took some entries of a call only. A command
 * that its deadline or an operator ends does not wait for its tasks.
 */
export const checkOrderOfEnds = async ({
  bus,
  faults,
  limits,
}: Cloud): Promise<readonly Violation[]> => {
  const isDivided =
    faults.struck.some(({ kind }) => kind === "entries fail") ||
    limits.struck.some(({ limit }) => limit === "entries");
  if (isDivided) return [];
  const succeeded = new Set<string>();
  const known = new Set<string>();
  return bus.seen().flatMap(({ detailType, metadata, id }) => {
    const command = `${metadata.sender}/${metadata.commandId}`;
    if (detailType === "CommandSucceeded") succeeded.add(command);
    const isNew = !known.has(id);
    known.add(id);
    const isLate = isNew && PUBLISHED_ENDS.has(detailType) && succeeded.has(command);
    return isLate ? [{ invariant: 1, text: `${command} ended before ${detailType}` }] : [];
  });
};
