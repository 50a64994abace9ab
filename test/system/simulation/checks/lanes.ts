import * as z from "zod";
import { commands } from "../../../../lib/engine/command.ts";
import { lanes } from "../../../../lib/engine/lane.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

const laneSchema = z.object({ holder: z.string().optional(), waiting: z.array(z.string()) });
const endSchema = z.object({ state: z.object({ endedAt: z.number() }) });

const restOf = (key: string): string => key.slice(key.indexOf("#") + 1);

/** Records entries into lanes, and ends of commands. */
export const watchLanes = ({ ledger, chronicle, timeline }: Cloud): void => {
  ledger.onWrite(({ key, value }) => {
    if (key.startsWith(`${lanes.kind}#`)) {
      const { holder, waiting } = laneSchema.parse(value);
      const entered = chronicle.entered.get(restOf(key)) ?? [];
      const inLane = [...(holder === undefined ? [] : [holder]), ...waiting];
      if (new Set(inLane).size < inLane.length) {
        const text = `${inLane.join(", ")}: a command is repeated in ${key}`;
        chronicle.violations.push({ invariant: 3, text });
      }
      const fresh = inLane.filter((command) => !entered.includes(command));
      chronicle.entered.set(restOf(key), [...entered, ...fresh]);
    } else if (key.startsWith(`${commands.kind}#`) && endSchema.safeParse(value).success) {
      const command = restOf(key);
      if (!chronicle.endedAt.has(command)) chronicle.endedAt.set(command, timeline.now());
    }
  });
};

/**
 * Invariant 3: in one lane at most one command is in flight, in the order of entering the lane. So a
 * command that sends holds its lane, and all commands before it have ended.
 */
export const checkLanes = async ({ chronicle }: Cloud): Promise<readonly Violation[]> => {
  const { departures, entered, endedAt } = chronicle;
  return departures.flatMap(({ at, lane, command, isLeased }, index) => {
    const order = entered.get(lane) ?? [];
    const before = order.slice(0, Math.max(0, order.indexOf(command)));
    const alsoSent = departures
      .slice(0, index)
      .filter((other) => other.lane === lane && other.command !== command)
      .map((other) => other.command);
    const inFlight = [...new Set([...before, ...alsoSent])].filter(
      (other) => (endedAt.get(other) ?? Number.POSITIVE_INFINITY) > at,
    );
    const broken = [
      ...(order.includes(command) ? [] : [`${command} sent without holding its lane ${lane}`]),
      ...((endedAt.get(command) ?? at) < at ? [`${command} sent after its end`] : []),
      ...(isLeased ? [] : [`${command} sent without its lease`]),
      ...inFlight.map((other) => `${command} sent before ${other} of its lane had ended`),
    ];
    return broken.map((text) => ({ invariant: 3, text }));
  });
};
