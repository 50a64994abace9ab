import { resumeInstance } from "../../../lib/contract/instances.ts";
import { createRouter } from "../../../lib/contract/routers.ts";
import { createStorageEvent } from "../../../lib/contract/storage-events.ts";
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
  readonly departures: number;
  /** Requests that the provider has said yes to. */
  readonly effects: number;
  /** Of those, the ones with something to be done: an update may be of nothing. */
  readonly changes: number;
  readonly lost: number;
}

const doneFor = ({ chronicle }: Cloud, { key }: Ended): Done => {
  const its = chronicle.effects.filter(
    ({ command, status }) => command === key && status >= 200 && status < 300,
  );
  return {
    departures: chronicle.departures.filter(({ command }) => command === key).length,
    effects: its.length,
    changes: its.filter(({ taskIds, status }) => status === 204 || taskIds.length > 0).length,
    lost: its.filter(({ isLost }) => isLost()).length,
  };
};

/** What an end says that is not so, by number of the invariant. */
const untruths = (command: Ended, done: Done): readonly (readonly [number, string])[] => {
  const { operation, state, lostReplies } = command;
  const saysDone = state.status === "succeeded" && state.outcome === "done";
  const untrue: [number, string][] = [];
  if (CREATES.has(operation) && done.effects > 1) {
    untrue.push([2, `has created ${done.effects} times`]);
  }
  if (saysDone && done.effects === 0 && !MAY_BE_DONE_ALREADY.has(operation)) {
    untrue.push([5, "says that it is done, and nothing was"]);
  }
  if (state.status === "succeeded" && !saysDone && done.changes > 0) {
    untrue.push([5, `says ${state.outcome}, and something was done`]);
  }
  if (state.status === "cancelled" && done.departures > 0) {
    untrue.push([5, "was cancelled after it had been sent"]);
  }
  if (state.reason === "refused" && done.effects > 0) {
    untrue.push([4, "says that it was refused, and it was done"]);
  }
  if (state.reason === "deadline" && state.tasks.length === 0 && done.effects > 0) {
    untrue.push([4, "says that its time was over, and it was done"]);
  }
  if (done.lost > lostReplies) {
    untrue.push([4, `has lost ${done.lost} replies, and says ${lostReplies}`]);
  }
  return untrue;
};

/**
 * Invariant 2: an operation that creates takes effect at most once. And of invariants 4 and 5: what the
 * end of a command says of its effect and of lost replies agrees with what the provider has done.
 */
export const checkTruth = async (cloud: Cloud): Promise<readonly Violation[]> =>
  (await endedCommands(cloud)).flatMap((command) =>
    untruths(command, doneFor(cloud, command)).map(([invariant, said]) => ({
      invariant,
      text: `${command.key} (${command.operation}) ${said}`,
    })),
  );
