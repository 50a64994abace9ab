import {
  type BusEntry,
  type EventBus,
  eventBytes,
  MAX_EVENT_BYTES,
  type PublishOutcome,
} from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { MAX_ENTRIES } from "./eventbridge-bus.ts";

/** A call that has no answer after this time keeps others back no longer. */
const MAX_HOLD_MS = 10;

/** The bus counts the source of each entry too: at most 256 characters. */
const MAX_SOURCE = "s".repeat(256);

/** A publication that waits for a call. */
interface Waiting {
  readonly entries: readonly BusEntry[];
  readonly bytes: number;
  readonly resolve: (outcomes: Promise<readonly PublishOutcome[]>) => void;
}

const bytesOf = (entries: readonly BusEntry[]): number =>
  entries.reduce(
    (sum, { detailType, detail }) =>
      sum + eventBytes(MAX_SOURCE, detailType, JSON.stringify(detail)),
    0,
  );

/**
 * A bus on which publications share calls. The first one is sent at once. Those that come before its answer go together
 * after it, or as soon as a call has no room for all of them. The commands of a batch publish about the same time, and a
 * call of the AWS SDK costs more CPU time than its entries. The entries of one publication stay together and in order.
 */
export const shareCalls = (bus: EventBus, { sleep }: Pick<Clock, "sleep">): EventBus => {
  const waiting: Waiting[] = [];
  let isHeld = false;

  /** Index of the first publication that a call has no room for; -1: all fit. */
  const firstBeyond = (): number => {
    let [count, bytes] = [0, 0];
    return waiting.findIndex((each) => {
      count += each.entries.length;
      bytes += each.bytes;
      return count > MAX_ENTRIES || bytes > MAX_EVENT_BYTES;
    });
  };

  /** The first publications that fit a call; a larger one is alone. */
  const nextGroup = (): readonly Waiting[] => {
    const end = firstBeyond();
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  };

  const send = async (group: readonly Waiting[]): Promise<void> => {
    const call = bus.publish(group.flatMap(({ entries }) => entries));
    let first = 0;
    for (const { entries, resolve } of group) {
      const [from, to] = [first, first + entries.length];
      resolve(call.then((outcomes) => outcomes.slice(from, to)));
      first = to;
    }
    // Its callers handle an error.
    await call.catch(() => undefined);
  };

  const sendAll = async (): Promise<void> => {
    isHeld = true;
    while (waiting.length > 0) {
      const answered = new AbortController();
      const hold = sleep(MAX_HOLD_MS, answered.signal);
      void send(nextGroup()).then(() => answered.abort("answered"));
      await hold;
    }
    isHeld = false;
  };

  return {
    publish(entries) {
      return new Promise((resolve) => {
        waiting.push({ entries, bytes: bytesOf(entries), resolve });
        if (!isHeld) void sendAll();
        while (firstBeyond() !== -1) void send(nextGroup());
      });
    },
  };
};
