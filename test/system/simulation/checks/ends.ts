import { commands, isEnded } from "../../../../lib/engine/command.ts";
import { fingerprintOf } from "../../../../lib/engine/fingerprint.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { type Asking, askingsOf, type Input, keyOf } from "../plan/deeds.ts";
import { isFinished } from "./ended-commands.ts";

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled"]);
const WORDS: Readonly<Record<string, string>> = {
  succeeded: "CommandSucceeded",
  failed: "CommandFailed",
  cancelled: "CommandCancelled",
};

const PREFIX = `${commands.kind}#`;

type Events = ReturnType<Cloud["bus"]["seen"]>;

const idsOf = (events: Events): readonly string[] => [...new Set(events.map(({ id }) => id))];

/** The rejections of requests for a command, and their faults. */
const rejectionsOf = (events: Events, key: string, askings: readonly Asking[]) => {
  const rejections = events.filter(
    ({ detailType, metadata, data }) =>
      detailType === "CommandRejected" &&
      `${metadata.sender}/${data.requestedCommandId ?? metadata.commandId}` === key,
  );
  const asIfItsOwn = rejections.filter(
    ({ metadata, data }) => data.reason === "id-reused" && metadata.commandId !== undefined,
  );
  const [only, ...others] = askings;
  const otherwise =
    only?.rejectedAs !== undefined && others.length === 0
      ? rejections.filter(({ data }) => data.reason !== only.rejectedAs)
      : [];
  // A rejection before a command with that id exists differs from a later one.
  const ofOneKind = new Set(
    rejections.map(({ metadata, data }) => `${data.reason} ${metadata.commandId}`),
  );
  const most = askings.length * Math.max(1, ofOneKind.size);
  return {
    rejections,
    wrong: [
      ...(idsOf(rejections).length > most
        ? [`${key}: ${idsOf(rejections).length} rejections of ${askings.length} requests`]
        : []),
      ...otherwise.map(
        ({ data }) => `${key} was rejected as ${data.reason} instead of ${only?.rejectedAs}`,
      ),
      ...(asIfItsOwn.length > 0
        ? [`${key}: the rejection of another request looks like its end`]
        : []),
    ],
  };
};

/** Checks the outcome of all requests for one command. */
const checkOne = async (
  cloud: Cloud,
  events: Events,
  key: string,
  askings: readonly Asking[],
): Promise<readonly string[]> => {
  const command = (await commands.read(cloud.ledger.true, key))?.value;
  const its = events.filter(({ metadata }) => `${metadata.sender}/${metadata.commandId}` === key);
  const ends = its.filter(({ detailType }) => ENDS.has(detailType));
  const accepted = its.filter(({ detailType }) => detailType === "CommandAccepted");
  const { rejections, wrong } = rejectionsOf(events, key, askings);
  if (!command) {
    return rejections.length > 0
      ? wrong
      : [...wrong, `${key} was requested, but neither accepted nor rejected`];
  }
  if (askings.every(({ rejectedAs }) => rejectedAs))
    return [`${key} was accepted although it must be rejected`];
  if (!isEnded(command) || !(await isFinished(cloud, command))) {
    return [`${key} has not ended: ${command.state.status}`];
  }
  // Two texts with other orders of fields are one payload.
  const wishes = new Set(askings.map(({ data }) => fingerprintOf(data, "payload")));
  return [
    ...wrong,
    ...(idsOf(rejections).length < wishes.size - 1
      ? [`${key} was requested with ${wishes.size} payloads, but none was rejected`]
      : []),
    ...(idsOf(accepted).length === 1
      ? []
      : [`${key}: CommandAccepted was not published with exactly one id`]),
    ...(idsOf(ends).length === 1
      ? []
      : [`${key}: ${ends.length} terminal events with different ids, or none`]),
    ...(ends.some(({ detailType }) => detailType !== WORDS[command.state.status])
      ? [`${key} is ${command.state.status}, but ${ends[0]?.detailType} was published`]
      : []),
  ];
};

/**
 * Invariant 1: every accepted command reaches exactly one terminal state; its terminal event is
 * published at least once, always with one id. Every sender gets an answer.
 */
export const checkEnds = async (
  cloud: Cloud,
  inputs: readonly Input[],
): Promise<readonly Violation[]> => {
  const events = cloud.bus.seen();
  const askings = askingsOf(inputs);
  const keys = [...new Set(askings.map(keyOf))];
  const broken = await Promise.all(
    keys.map((key) =>
      checkOne(
        cloud,
        events,
        key,
        askings.filter((asking) => keyOf(asking) === key),
      ),
    ),
  );
  const unasked = [...cloud.ledger.items.keys()].filter(
    (key) => key.startsWith(PREFIX) && !keys.includes(key.slice(PREFIX.length)),
  );
  return [
    ...broken.flat(),
    ...unasked.map((key) => `${key} exists without a permitted request`),
  ].map((text) => ({ invariant: 1, text }));
};
