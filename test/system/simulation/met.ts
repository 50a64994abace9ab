import { endedCommands } from "./checks/ended-commands.ts";
import type { Cloud } from "./cloud/cloud.ts";

/** The call itself, without whatever tells it from others of its kind. */
const callOf = (place: string): string =>
  place
    .replace(/ #\d+$/, "")
    .replace(/#.*$/, "")
    .replace(/ [co]\d+$/, "")
    .replaceAll(/\/[0-9a-f-]{36}/g, "/…")
    .replaceAll(/\/\d+/g, "/…");

/**
 * What a run has come upon, by name: faults and where they struck, fates of tasks, ends of commands,
 * events. What is never met is not tested, whatever the plan says.
 */
export const metIn = async (cloud: Cloud): Promise<readonly string[]> => {
  const { faults, bus, fates } = cloud;
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
    ...[...fates.met].map((kind) => `task ${kind}`),
    ...ends,
    ...events,
  ];
  return [...new Set(met)];
};
