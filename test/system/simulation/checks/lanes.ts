import * as z from "zod";
import { commands } from "../../../../lib/engine/command.ts";
import { lanes } from "../../../../lib/engine/lane.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

const laneSchema = z.object({ holder: z.string().optional(), waiting: z.array(z.string()) });
const endSchema = z.object({ state: z.object({ endedAt: z.number() }) });

const PREFIX = `${lanes.kind}#`;

/** Of the documentation: a lane holds one running command and 500 waiting ones, and rejects the next. */
const MOST_WAITING = 500;
const FULL = "lane that is full";

/** The commands of a lane: its holder, then those that wait, in order. */
const commandsIn = (lane: LedgerItem["value"]) => {
  const { holder, waiting } = laneSchema.parse(lane);
  return { waiting, all: [...(holder === undefined ? [] : [holder]), ...waiting] };
};

const restOf = (key: string): string => key.slice(key.indexOf("#") + 1);

/** Records entries into lanes. No lane holds a command twice, or more commands than documented. */
const noteLane = ({ key, value }: LedgerItem, { chronicle }: Cloud): void => {
  const entered = chronicle.entered.get(restOf(key)) ?? [];
  const { waiting, all } = commandsIn(value);
  const broken = (text: string) => chronicle.violations.push({ invariant: 3, text });
  if (new Set(all).size < all.length) broken(`${all.join(", ")}: a command is repeated in ${key}`);
  if (waiting.length >= MOST_WAITING) chronicle.met.add(FULL);
  if (waiting.length > MOST_WAITING) broken(`${waiting.length} commands wait in ${key}`);
  const fresh = all.filter((command) => !entered.includes(command));
  chronicle.entered.set(restOf(key), [...entered, ...fresh]);
};

/** Records entries into lanes, and ends of commands. */
export const watchLanes = (cloud: Cloud): void => {
  const { endedAt } = cloud.chronicle;
  cloud.ledger.onWrite((item) => {
    const { key, value } = item;
    if (key.startsWith(PREFIX)) noteLane(item, cloud);
    else if (key.startsWith(`${commands.kind}#`) && endSchema.safeParse(value).success) {
      const command = restOf(key);
      if (!endedAt.has(command)) endedAt.set(command, cloud.timeline.now());
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

/** No lane rejects a command before it is full. */
export const checkFullLanes = async ({ bus, chronicle }: Cloud): Promise<readonly Violation[]> => {
  const isRejected = bus.seen().some(({ data }) => data.reason === "lane-full");
  const text = "a lane was never full, but a command was rejected as lane-full";
  return isRejected && !chronicle.met.has(FULL) ? [{ invariant: 3, text }] : [];
};

/** At rest no command waits in a lane, and its last holder has ended: another one would stop all later commands. */
export const checkRest = async ({ ledger, chronicle }: Cloud): Promise<readonly Violation[]> =>
  [...ledger.items.values()]
    .filter(({ key }) => key.startsWith(PREFIX))
    .flatMap(({ key, value }) => {
      const { holder, waiting } = laneSchema.parse(value);
      const isIdle = holder !== undefined && !chronicle.endedAt.has(holder);
      return [...(isIdle ? [holder] : []), ...waiting].map((command) => ({
        invariant: 3,
        text: `${command} is in ${key}, although the system is at rest`,
      }));
    });
