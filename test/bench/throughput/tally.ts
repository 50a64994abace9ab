import type { BusEntry } from "../../../lib/platform/ports/bus.ts";

/** A command that was sent, and what became of it. Times are epoch ms. */
export interface Tracked {
  readonly sentAt: number;
  /** Id of each event about the command, by detail-type; several ids of one type would be several facts. */
  readonly eventIds: Map<string, Set<string>>;
  /** When its first end was published. */
  endedAt?: number;
}

const ENDS = ["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"];

const commandIdOf = ({ detail }: BusEntry): unknown =>
  (detail.metadata as { readonly commandId?: unknown } | undefined)?.commandId;

/** Follows commands from their request to the events about them. */
export const createTally = (now: () => number) => {
  const commands = new Map<string, Tracked>();
  let published = 0;
  let ended = 0;
  return {
    commands,
    /** Number of commands with a published end. */
    ended: (): number => ended,
    /** Number of events that the bus took, repeated ones included. */
    published: (): number => published,
    sent(commandId: string): void {
      commands.set(commandId, { sentAt: now(), eventIds: new Map() });
    },
    publish(entry: BusEntry): void {
      published += 1;
      const command = commands.get(String(commandIdOf(entry)));
      if (!command) return;
      const { detailType, deduplicationId } = entry;
      const ids = command.eventIds.get(detailType) ?? new Set();
      command.eventIds.set(detailType, ids.add(deduplicationId));
      if (!ENDS.includes(detailType) || command.endedAt !== undefined) return;
      command.endedAt = now();
      ended += 1;
    },
  };
};

const hasOneFactOfEachType = ({ eventIds }: Tracked): boolean =>
  [...eventIds.values()].every(({ size }) => size === 1);

/** Whether the command has succeeded, and nothing else has happened to it. */
export const endedAsItShould = (command: Tracked): boolean =>
  hasOneFactOfEachType(command) &&
  ENDS.every((type) => command.eventIds.has(type) === (type === "CommandSucceeded"));

/** Number of commands with an event of this type. */
export const countOf = (commands: Iterable<Tracked>, detailType: string): number =>
  [...commands].filter(({ eventIds }) => eventIds.has(detailType)).length;

/** Number of commands that published one fact under several ids, or several ends. */
export const countTwice = (commands: Iterable<Tracked>): number =>
  [...commands].filter(
    (command) =>
      !hasOneFactOfEachType(command) ||
      ENDS.filter((type) => command.eventIds.has(type)).length > 1,
  ).length;

export const quantileOf = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
};
