import { createRouter } from "../../../../lib/contract/routers.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Ended, endedCommands } from "./ended-commands.ts";

/** With no more faults for so long, whatever can go on has gone on. */
const ENOUGH_MS = 9 * 60_000;

/** Tasks that last longer than others, or for ever. */
const LASTING: ReadonlySet<string> = new Set(["endless", "long", "unreadable", "vanishing"]);

const hasLastingTask = ({ fates }: Cloud, taskIds: readonly string[]): boolean =>
  taskIds.some((id) => LASTING.has(fates.of(id) ?? ""));

/** Whoever looks for its router waits for tasks of other accounts there too: they may be its own. */
const isBesideRouter = (one: Ended, other: Ended): boolean =>
  one.operation === createRouter.id &&
  other.operation === createRouter.id &&
  JSON.stringify(one.params) === JSON.stringify(other.params);

/** Every command that a command may have to wait for: of its lane, and of `after`. */
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
 * Nothing stands still: a command ends by its deadline only if something kept it until then that lasts.
 * Whoever was forgotten ends by its deadline too, and everything else would look right.
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
      const text = `${key} (${operation}) ended as ${state.reason} by its deadline, and nothing kept it`;
      return { invariant: 1, text };
    });
};
