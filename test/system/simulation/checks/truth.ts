import { resumeInstance } from "../../../../lib/contract/instances.ts";
import { createRouter } from "../../../../lib/contract/routers.ts";
import { createStorageEvent } from "../../../../lib/contract/storage-events.ts";
import { followTask } from "../../../../lib/contract/tasks.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { askingsOf, keyOf } from "../plan/deeds.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

const CREATES: ReadonlySet<string> = new Set([createRouter.id, createStorageEvent.id]);

/** Whether the provider accepted an equal request of another command. */
const isDoneByAnother = ({ chronicle, inputs }: Cloud, { key }: Ended): boolean => {
  const bodiesOf = (command: string): readonly string[] =>
    askingsOf(inputs)
      .filter((asking) => keyOf(asking) === command)
      .map(({ data }) => JSON.stringify(data.body));
  const wanted = bodiesOf(key);
  return chronicle.effects.some(
    ({ command, status }) =>
      status < 300 && command !== key && bodiesOf(command).some((body) => wanted.includes(body)),
  );
};

/** Whether another command follows one of its tasks. */
const isShared = ({ key, state }: Ended, commands: readonly Ended[]): boolean =>
  commands.some(
    (other) =>
      other.key !== key &&
      other.state.tasks.some(({ id }) => state.tasks.some((task) => task.id === id)),
  );

/**
 * After a lost reply these operations may find the wanted state: an active instance, or an event or router that is
 * equal to another command's. It makes no difference which client made it so, but a router belongs to one command.
 */
const mayBeDoneAlready = (cloud: Cloud, command: Ended, commands: readonly Ended[]): boolean =>
  command.operation === resumeInstance.id ||
  (CREATES.has(command.operation) &&
    !isShared(command, commands) &&
    isDoneByAnother(cloud, command));

/** Whether another command of its lane changed the resource after it: the list then shows an event unlike its own. */
const isOverwritten = ({ chronicle }: Cloud, { key, lane }: Ended, commands: readonly Ended[]) => {
  const others = new Set(
    commands.filter((other) => other.lane === lane && other.key !== key).map((other) => other.key),
  );
  const done = chronicle.effects.filter(({ status }) => status >= 200 && status < 300);
  const ownAt = done.find(({ command }) => command === key)?.at ?? Number.POSITIVE_INFINITY;
  return done.some(({ command, at }) => others.has(command) && at > ownAt);
};

/** Effects at the provider for one command. */
interface Done {
  /** Successful requests. */
  readonly effects: number;
  /** Those after the command's end: a stalled request, of which a repetition was answered. */
  readonly late: number;
  /** Those with a change: an update may find nothing to do. */
  readonly changes: number;
  readonly lost: number;
  /** Requests with tasks that the command does not follow. */
  readonly unfollowed: number;
  /** Refused requests. */
  readonly refusals: number;
  /** Whether another command of its lane took effect after it, by a request that had stalled. */
  readonly isOverwritten: boolean;
  /** Whether the wanted state may have been there before. */
  readonly mayBeDoneAlready: boolean;
}

const doneFor = (cloud: Cloud, command: Ended, commands: readonly Ended[]): Done => {
  const { chronicle } = cloud;
  const { key, state } = command;
  const endedAt = chronicle.endedAt.get(key) ?? Number.POSITIVE_INFINITY;
  const followed = new Set(state.tasks.map(({ id }) => id));
  const all = chronicle.effects.filter((effect) => effect.command === key);
  const its = all.filter(({ status }) => status >= 200 && status < 300);
  return {
    effects: its.length,
    late: its.filter(({ at }) => at > endedAt).length,
    changes: its.filter(({ taskIds, status }) => status === 204 || taskIds.length > 0).length,
    lost: its.filter(({ isLost }) => isLost()).length,
    unfollowed: its.filter(({ taskIds }) => taskIds.some((id) => !followed.has(id))).length,
    isOverwritten: isOverwritten(cloud, command, commands),
    refusals: all.filter(({ status }) => status >= 400 && status < 500 && status !== 401).length,
    mayBeDoneAlready: mayBeDoneAlready(cloud, command, commands),
  };
};

type Untruth = readonly [invariant: number, said: string];

const when = (is: boolean, invariant: number, said: string): readonly Untruth[] =>
  is ? [[invariant, said]] : [];

/** False statements of a success. */
const untrueSuccess = ({ state }: Ended, done: Done): readonly Untruth[] => {
  if (state.status !== "succeeded") return [];
  if (state.outcome !== "done") {
    return done.changes > 0
      ? [[5, `reports ${state.outcome}, but the provider made a change`]]
      : [];
  }
  const isUntrue = done.effects === 0 && !done.mayBeDoneAlready;
  return isUntrue ? [[5, "reports done, but the provider made no change"]] : [];
};

/**
 * False statements of an end without success. Only creating operations wait for stalled requests; for
 * the others `lostReplies` says that a reply was lost.
 */
const untrueFailure = ({ operation, state }: Ended, done: Done): readonly Untruth[] => {
  const isDone = done.effects > 0;
  const isDoneInTime = CREATES.has(operation) ? isDone : done.effects > done.late;
  const isRefused = state.reason === "refused";
  const isLate = state.reason === "deadline" && state.tasks.length === 0;
  return [
    ...when(
      state.status === "cancelled" && isDone,
      5,
      "was cancelled, but the provider made the change",
    ),
    ...when(isRefused && done.refusals === 0, 5, "reports a refusal that the provider never sent"),
    ...when(
      isRefused && isDoneInTime && !done.isOverwritten,
      4,
      "reports a refusal, but the provider made the change",
    ),
    ...when(isLate && isDone, 4, "reports its deadline, but the provider made the change"),
  ];
};

/** False statements of an end, by number of the invariant. */
const untruths = (command: Ended, done: Done): readonly Untruth[] => {
  const { operation, lostReplies, state } = command;
  const isTwice = CREATES.has(operation) && done.effects > 1;
  return [
    ...when(isTwice, 2, `created ${done.effects} times`),
    ...when(
      state.status === "cancelled" && lostReplies > 0,
      4,
      "was cancelled as if nothing had taken effect, but a reply was lost",
    ),
    ...untrueSuccess(command, done),
    ...untrueFailure(command, done),
    ...when(
      done.lost > lostReplies,
      4,
      `lost ${done.lost} replies, but lostReplies is ${lostReplies}`,
    ),
    ...when(
      done.unfollowed > lostReplies,
      4,
      `does not follow the tasks of ${done.unfollowed} replies, but lostReplies is ${lostReplies}`,
    ),
    // At most one reply is received: after it no more requests are sent.
    ...when(
      done.effects > lostReplies + 1,
      4,
      `took effect ${done.effects} times, but lostReplies is ${lostReplies}`,
    ),
  ];
};

/**
 * Invariant 2: an operation that creates takes effect at most once. For invariants 4 and 5: the end
 * of a command and its count of lost replies agree with the effects at the provider.
 */
export const checkTruth = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const commands = await endedCommands(cloud);
  return commands
    .filter(({ operation }) => operation !== followTask.id)
    .flatMap((command) =>
      untruths(command, doneFor(cloud, command, commands)).map(([invariant, said]) => ({
        invariant,
        text: `${command.key} (${command.operation}) ${said}`,
      })),
    );
};
