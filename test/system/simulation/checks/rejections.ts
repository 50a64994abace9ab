import { commandKey, commands } from "../../../../lib/engine/command.ts";
import { type Rejected, readRejections } from "../../../../lib/engine/rejection.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

/** Bounds of the records per id, and per sender and hour: beyond them records may be missing. */
const ROOM_UNDER_ID = 5;
const ROOM_IN_HOUR = 100;
/** A process that rejects a request has read its command at most so long ago, differences of clocks included. */
const RACE_MS = 60_000;

const PREFIX = "rejection#";

/** Whether the records of a sender's hour may be full; they are in several items, `HOUR/PART`. */
export const isHourFull = ({ ledger }: Cloud, sender: string | undefined): boolean => {
  const counts = new Map<string, number>();
  for (const [key, { value }] of ledger.items) {
    if (!key.startsWith(`rejection-hour#${sender}/`) || !Array.isArray(value.entries)) continue;
    const hour = key.slice(0, key.lastIndexOf("/"));
    counts.set(hour, (counts.get(hour) ?? 0) + value.entries.length);
  }
  return [...counts.values()].some((count) => count >= ROOM_IN_HOUR);
};

/** Published rejections without a record. */
const unrecorded = async (cloud: Cloud): Promise<readonly string[]> => {
  const rejections = cloud.bus.seen().filter(({ detailType }) => detailType === "CommandRejected");
  const texts = await Promise.all(
    rejections.map(async ({ metadata, data }) => {
      const { sender = "", causationId, commandId = data.requestedCommandId } = metadata;
      if (isHourFull(cloud, sender)) return [];
      const missing = async (id: string): Promise<boolean> => {
        const found = await readRejections(cloud.ledger.true, sender, id);
        return found.length < ROOM_UNDER_ID && !found.some(({ reason }) => reason === data.reason);
      };
      const isMissing = (await missing(causationId)) || (await missing(commandId));
      return isMissing ? [`${sender}/${commandId}: a rejection is not recorded`] : [];
    }),
  );
  return texts.flat();
};

/**
 * Records of requests that were neither published as rejected nor accepted. A request that arrives
 * again after a failed publication may have another reason by then, or none: one event per request is enough.
 */
const unpublished = async (cloud: Cloud): Promise<readonly string[]> => {
  const { ledger, bus } = cloud;
  const told = new Set(
    bus
      .seen()
      .filter(({ detailType }) => detailType === "CommandRejected")
      .map(({ metadata, data }) => {
        const id = metadata.commandId ?? data.requestedCommandId;
        return `${metadata.sender}/${id} ${metadata.causationId}`;
      }),
  );
  const isAccounted = async (sender: string, rejected: Rejected): Promise<boolean> => {
    const { commandId, eventId, operation, reason, rejectedAt } = rejected;
    if (commandId === undefined) return true;
    if (told.has(`${sender}/${commandId} ${eventId ?? commandId}`)) return true;
    const command = await commands.read(ledger.true, commandKey({ sender, id: commandId }));
    if (command === undefined) return false;
    const { value } = command;
    // An equal request was accepted later or at the same time: this one counts as its repeat when it arrives again.
    // A request under the id of another payload is no repeat.
    const isRepeated =
      reason !== "id-reused" &&
      value.operation === operation &&
      value.acceptedAt > rejectedAt - RACE_MS;
    return value.causationId === eventId || isRepeated;
  };
  const keys = [...ledger.items.keys()].filter((key) => key.startsWith(PREFIX));
  const texts = await Promise.all(
    keys.map(async (key) => {
      const [sender = "", ...id] = key.slice(PREFIX.length).split("/");
      const found = await readRejections(ledger.true, sender, id.join("/"));
      const accounted = await Promise.all(found.map((one) => isAccounted(sender, one)));
      return accounted.every(Boolean) ? [] : [`${key}: recorded, but never published`];
    }),
  );
  return texts.flat();
};

/** Every rejection is published and recorded, within the bounds of the record. */
export const checkRejections = async (cloud: Cloud): Promise<readonly Violation[]> =>
  [...(await unrecorded(cloud)), ...(await unpublished(cloud))].map((text) => ({
    invariant: 1,
    text,
  }));
