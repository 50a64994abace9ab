import { isEndedByTasks } from "../../../../lib/engine/command.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled"]);

/** The facts of an end, in the ledger and in its event. */
const saidOf = (said: {
  readonly reason?: unknown;
  readonly outcome?: unknown;
  readonly attempts: unknown;
  readonly lostReplies: unknown;
  readonly taskIds: unknown;
}): string => {
  const { reason, outcome, attempts, lostReplies, taskIds } = said;
  return JSON.stringify({ reason, outcome, attempts, lostReplies, taskIds });
};

const ledgerSays = ({ state, attemptCount, lostReplies }: Ended): string =>
  saidOf({
    ...state,
    attempts: attemptCount,
    lostReplies,
    taskIds: state.tasks.map(({ id }) => id),
  });

/** The events of a command agree with the ledger, its resolution included. */
export const checkTelling = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const events = cloud.bus.seen();
  const texts = (await endedCommands(cloud)).flatMap((command) => {
    const { key, resolution, outbox } = command;
    const its = events.filter(({ metadata }) => `${metadata.sender}/${metadata.commandId}` === key);
    const otherwise = its.filter(
      ({ detailType, data }) => ENDS.has(detailType) && saidOf(data) !== ledgerSays(command),
    );
    const resolved = its.filter(({ detailType }) => detailType === "CommandResolved");
    const isResolvedSo = resolved.some(({ data }) => data.applied === resolution?.applied);
    return [
      ...otherwise.map(
        ({ data }) => `${key}: ${ledgerSays(command)}, published as ${saidOf(data)}`,
      ),
      ...(outbox.length > 0 && !isEndedByTasks(command.state)
        ? [`${key} is finished, but has unpublished events`]
        : []),
      ...(resolution && !isResolvedSo
        ? [`${key} was resolved, but CommandResolved was not published`]
        : []),
      ...(new Set(resolved.map(({ id }) => id)).size > 1 ? [`${key} was resolved twice`] : []),
      ...(resolution && command.state.reason !== "unknown-outcome"
        ? [`${key} was resolved although its outcome is known`]
        : []),
    ];
  });
  return texts.map((text) => ({ invariant: 1, text }));
};
