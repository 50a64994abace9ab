import { resumeInstance } from "../../../../lib/contract/instances.ts";
import { createRouter } from "../../../../lib/contract/routers.ts";
import { createStorageEvent } from "../../../../lib/contract/storage-events.ts";
import { followTask } from "../../../../lib/contract/tasks.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

const CREATES: ReadonlySet<string> = new Set([createRouter.id, createStorageEvent.id]);

/**
 * After a lost reply these may find that there is what they want: an instance that runs, an event that
 * is equal. Whether another made it so, nobody can tell, and it makes no difference.
 */
const MAY_BE_DONE_ALREADY: ReadonlySet<string> = new Set([
  resumeInstance.id,
  createStorageEvent.id,
]);

/** What the provider has done for a command. */
interface Done {
  /** Requests that the provider has said yes to. */
  readonly effects: number;
  /** Of those, the ones after the command's end: of a request that stalled, and was sent again. */
  readonly late: number;
  /** Of those, the ones with something to be done: an update may be of nothing. */
  readonly changes: number;
  readonly lost: number;
  /** Requests whose tasks the command does not follow. */
  readonly unfollowed: number;
  /** Requests that the provider has said no to. */
  readonly refusals: number;
}

const doneFor = ({ chronicle }: Cloud, { key, state }: Ended): Done => {
  const endedAt = chronicle.endedAt.get(key) ?? Number.POSITIVE_INFINITY;
  const followed = new Set(state.tasks.map(({ id }) => id));
  const all = chronicle.effects.filter(({ command }) => command === key);
  const its = all.filter(({ status }) => status >= 200 && status < 300);
  return {
    effects: its.length,
    late: its.filter(({ at }) => at > endedAt).length,
    changes: its.filter(({ taskIds, status }) => status === 204 || taskIds.length > 0).length,
    lost: its.filter(({ isLost }) => isLost()).length,
    unfollowed: its.filter(({ taskIds }) => taskIds.some((id) => !followed.has(id))).length,
    refusals: all.filter(({ status }) => status >= 400 && status < 500 && status !== 401).length,
  };
};

type Untruth = readonly [invariant: number, said: string];

const when = (is: boolean, invariant: number, said: string): readonly Untruth[] =>
  is ? [[invariant, said]] : [];

/** What a success says that is not so. */
const untrueSuccess = ({ operation, state }: Ended, done: Done): readonly Untruth[] => {
  if (state.status !== "succeeded") return [];
  if (state.outcome !== "done") {
    return done.changes > 0 ? [[5, `says ${state.outcome}, and something was done`]] : [];
  }
  const isUntrue = done.effects === 0 && !MAY_BE_DONE_ALREADY.has(operation);
  return isUntrue ? [[5, "says that it is done, and nothing was"]] : [];
};

/**
 * What an end without success says that is not so. Only what creates waits for requests that have
 * stalled; of another operation the end says that a reply was lost.
 */
const untrueFailure = ({ operation, state }: Ended, done: Done): readonly Untruth[] => {
  const isDone = done.effects > 0;
  const isDoneInTime = CREATES.has(operation) ? isDone : done.effects > done.late;
  const isRefused = state.reason === "refused";
  const isLate = state.reason === "deadline" && state.tasks.length === 0;
  return [
    ...when(state.status === "cancelled" && isDone, 5, "was cancelled, and it was done"),
    ...when(isRefused && done.refusals === 0, 5, "says that it was refused, and nobody has"),
    ...when(isRefused && isDoneInTime, 4, "says that it was refused, and it was done"),
    ...when(isLate && isDone, 4, "says that its time was over, and it was done"),
  ];
};

/** What an end says that is not so, by number of the invariant. */
const untruths = (command: Ended, done: Done): readonly Untruth[] => {
  const { operation, lostReplies } = command;
  const isTwice = CREATES.has(operation) && done.effects > 1;
  return [
    ...when(isTwice, 2, `has created ${done.effects} times`),
    ...untrueSuccess(command, done),
    ...untrueFailure(command, done),
    ...when(done.lost > lostReplies, 4, `has lost ${done.lost} replies, and says ${lostReplies}`),
    ...when(
      done.unfollowed > lostReplies,
      4,
      `follows no tasks of ${done.unfollowed} replies, and says that ${lostReplies} were lost`,
    ),
    // One reply is heard at most: after that there is nothing to send.
    ...when(
      done.effects > lostReplies + 1,
      4,
      `was done ${done.effects} times, and says that ${lostReplies} replies were lost`,
    ),
  ];
};

/**
 * Invariant 2: an operation that creates takes effect at most once. And of invariants 4 and 5: what the
 * end of a command says of its effect and of lost replies agrees with what the provider has done.
 */
export const checkTruth = async (cloud: Cloud): Promise<readonly Violation[]> =>
  (await endedCommands(cloud))
    .filter(({ operation }) => operation !== followTask.id)
    .flatMap((command) =>
      untruths(command, doneFor(cloud, command)).map(([invariant, said]) => ({
        invariant,
        text: `${command.key} (${command.operation}) ${said}`,
      })),
    );
