import { endedCommands } from "./checks/ended-commands.ts";
import type { Cloud } from "./cloud/cloud.ts";

/** The kind of a call: its name without ids and numbers. */
const callOf = (place: string): string =>
  place
    .replace(/ #\d+$/, "")
    .replace(/#.*$/, "")
    .replace(/ [co]\d+$/, "")
    .replaceAll(/\/[0-9a-f-]{36}/g, "/…")
    .replaceAll(/\/\d+/g, "/…");

/**
 * Coverage of a run, by name: faults and the calls that they struck, fault decisions about tasks,
 * ends of commands, and events. What no run covers is not tested.
 */
export const metIn = async (cloud: Cloud): Promise<readonly string[]> => {
  const { faults, limits, bus, fates, chronicle, provider } = cloud;
  const events = bus.seen().map(({ detailType, data }) => {
    const reason = detailType === "CommandRejected" ? ` ${data.reason}` : "";
    return `event ${detailType}${reason}`;
  });
  const ends = (await endedCommands(cloud)).map(({ operation, state }) => {
    const { status, outcome, reason } = state;
    return `end ${operation} ${status} ${outcome ?? reason}`;
  });
  const met = [
    ...faults.struck.map(({ place, kind }) => `fault ${kind}, at ${callOf(place)}`),
    ...limits.struck.map(({ limit }) => `limit ${limit}`),
    ...[...fates.met].map((kind) => `task ${kind}`),
    ...chronicle.met,
    ...provider.metInLists(),
    ...ends,
    ...events,
  ];
  return [...new Set(met)];
};
