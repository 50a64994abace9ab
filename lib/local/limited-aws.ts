import { MAX_ATTEMPTS } from "../platform/aws/aws-client.ts";
import { shareCalls } from "../platform/aws/shared-calls.ts";
import { repeatThrottled } from "../platform/aws/throttled-entries.ts";
import type { EventBus, PublishOutcome } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { CommandQueue } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Secrets } from "../platform/ports/secrets.ts";
import {
  type AwsLimits,
  createRate,
  type OnThrottled,
  type Rate,
  ThrottledError,
} from "./aws-limits.ts";
import { createLedgerLimits } from "./dynamodb-limits.ts";
import type { FifoQueue } from "./fifo-queue.ts";

/** AWS's side: ports of its services that keep its limits. All callers share one instance. */
export interface LimitedAws {
  readonly limits: AwsLimits;
  /**
   * @param shardOf shard of the due index that a written item's entry goes to, by its key; default: 0 for all
   * @throws ThrottledError from each method
   */
  ledger(ledger: Ledger, shardOf?: (key: string) => number): Ledger;
  /**
   * Throttles sends and receives. A throttled receive is empty, because Lambda's pollers try again. They delete
   * the messages of one receive with one call, so deletes never reach the limit before receives do.
   * @throws ThrottledError from `send`
   */
  queue<Q extends Pick<FifoQueue, "send" | "receive">>(queue: Q): Q;
  bus(bus: EventBus): EventBus;
  /** @throws ThrottledError from `read` */
  secrets(secrets: Secrets): Secrets;
}

const MAX_MESSAGES = 10;

const THROTTLED_ENTRY: PublishOutcome = {
  kind: "failed",
  code: "ThrottlingException",
  message: "Rate exceeded",
};

/** @param limits read at each call, so a test may change them */
export const createLimitedAws = (
  limits: AwsLimits,
  clock: Pick<Clock, "now">,
  onThrottled: OnThrottled = () => {},
): LimitedAws => {
  const calls = createRate(clock, () => limits.queueCalls);
  const groups = createRate(clock, () => limits.groupCalls);
  const entries = createRate(clock, () => limits.putEvents);
  const parameters = createRate(clock, () => limits.getParameter);
  const limitLedger = createLedgerLimits({ limits, clock, onThrottled });

  /** Uses one of the limit, if there is one. */
  const passes = (rate: Rate, key: string, limit: string): boolean => {
    if (!rate.isOpen(key)) {
      onThrottled(limit);
      return false;
    }
    rate.charge(key, 1);
    return true;
  };

  return {
    limits,
    ledger: (ledger, shardOf) => limitLedger(ledger, undefined, shardOf),
    queue: (queue) => ({
      ...queue,
      async send(message) {
        const isSent =
          passes(calls, "SendMessage", "sends") &&
          passes(groups, message.groupId, "sends of a group");
        if (!isSent) throw new ThrottledError("ThrottlingException", "SendMessage");
        await queue.send(message);
      },
      async receive(maxMessages, visibilityMs) {
        if (!passes(calls, "ReceiveMessage", "receives")) return [];
        return queue.receive(Math.min(maxMessages, MAX_MESSAGES), visibilityMs);
      },
    }),
    bus: (bus) => ({
      async publish(all) {
        // Those that pass are the first ones, because all come in one instant.
        const passed = all.filter(() => passes(entries, "PutEvents", "entries"));
        const outcomes = await bus.publish(passed);
        return all.map((_, index) => outcomes[index] ?? THROTTLED_ENTRY);
      },
    }),
    secrets: (secrets) => ({
      async read(reference) {
        if (passes(parameters, "GetParameter", "secrets")) return secrets.read(reference);
        throw new ThrottledError("ThrottlingException", "GetParameter");
      },
    }),
  };
};

/**
 * Pause of the SDK before its second attempt at a throttled call, at most. Each further one may be twice as long.
 * `throttlingDelay` of @smithy/core, submodules/retry.
 */
const PAUSE_MS = 1_000;

/** Our side: ports that repeat throttled calls as the SDK's clients in `aws-client.ts` do. */
export interface RetryingPorts {
  ledger(ledger: Ledger): Ledger;
  queue(queue: CommandQueue): CommandQueue;
  bus(bus: EventBus): EventBus;
  secrets(secrets: Secrets): Secrets;
}

/**
 * Repeats a throttled call after a random pause, three attempts in all, and then fails. Both pauses take less than
 * 3 s, so the limit of 12 s for a call is never reached.
 * @param machine the clock and the randomness of the caller
 */
export const createRetryingPorts = (machine: {
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Random;
}): RetryingPorts => {
  const { clock, random } = machine;
  const retry = async <T>(call: (attempt: number) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(attempt);
      } catch (error) {
        if (!(error instanceof ThrottledError) || attempt === MAX_ATTEMPTS) throw error;
        await clock.sleep(Math.floor(random.fraction() * PAUSE_MS * 2 ** (attempt - 1)));
      }
    }
  };
  return {
    ledger: (ledger) => ({
      read: (key) => retry(() => ledger.read(key)),
      write: (item) =>
        retry(async (attempt) => {
          const answer = await ledger.write(item);
          if (answer === "written" || attempt === 1) return answer;
          // As `dynamodb-ledger.ts` does: it cannot know that the first attempt was throttled.
          throw new Error(
            `unknown whether version ${item.version} of ledger item ${item.key} was written`,
          );
        }),
      listDue: (...query) => retry(() => ledger.listDue(...query)),
      list: (partition, before, limit) => retry(() => ledger.list(partition, before, limit)),
    }),
    queue: (queue) => ({ send: (message) => retry(() => queue.send(message)) }),
    bus: (bus) => repeatThrottled(shareCalls(bus, clock), machine),
    secrets: (secrets) => ({ read: (reference) => retry(() => secrets.read(reference)) }),
  };
};
