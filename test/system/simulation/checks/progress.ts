import { createRouter } from "../../../../lib/contract/routers.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

/** Time without faults after which every command that can progress has done so, ms. */
const ENOUGH_MS = 9 * 60_000;

/** Decisions that make a task last long, or for ever. */
const LASTING: ReadonlySet<string> = new Set(["endless", "long", "unreadable", "vanishing"]);

const hasLastingTask = ({ fates }: Cloud, taskIds: readonly string[]): boolean =>
  taskIds.some((id) => LASTING.has(fates.of(id) ?? ""));

/**
 * A command that looks for its router also waits for tasks of other accounts: they may be its own.
 */
const isBesideRouter = (one: Ended, other: Ended): boolean =>
  one.operation === createRouter.id &&
  other.operation === createRouter.id &&
  JSON.stringify(one.params) === JSON.stringify(other.params);

/** Every command that a command may wait for: those of its lane, and of `after`. */
const aheadOf = (command: Ended, all: readonly Ended[]): readonly Ended[] => {
  const found = new Set([command]);
  for (const one of found) {
    for (const other of all) {
      const isNamed = other.sender === one.sender && one.after?.includes(other.id);
      if (other.lane === one.lane || isNamed || isBesideRouter(one, other)) found.add(other);
    }
  }
  return [...found];
};

/**
 * Progress: a command ends by its deadline only if a lasting cause kept it until then. A forgotten
 * command ends by its deadline too, and would violate no invariant.
 */
export const checkProgress = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const all = await endedCommands(cloud);
  const { chronicle, faults } = cloud;
  const begun = (key: string): readonly string[] =>
    chronicle.effects.filter(({ command }) => command === key).flatMap(({ taskIds }) => taskIds);
  const calmSince = faults.calmSince() ?? Number.POSITIVE_INFINITY;

  const isKept = (command: Ended): boolean => {
    const ahead = aheadOf(command, all);
    const isWaitingForNobody = ahead.some(({ sender, after = [] }) =>
      after.some((id) => !all.some((other) => other.sender === sender && other.id === id)),
    );
    return (
      isWaitingForNobody ||
      ahead.some((one) =>
        hasLastingTask(cloud, [...begun(one.key), ...one.state.tasks.map(({ id }) => id)]),
      )
    );
  };

  return all
    .filter(({ state, deadline }) => {
      const isLate = state.endedAt >= deadline - 20_000 && deadline >= calmSince + ENOUGH_MS;
      return isLate && state.reason !== "requested" && state.status !== "succeeded";
    })
    .filter((command) => !isKept(command))
    .map(({ key, operation, state }) => {
      const text = `${key} (${operation}) ended as ${state.reason} by its deadline without a lasting cause`;
      return { invariant: 1, text };
    });
};
