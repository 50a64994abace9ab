import type { Clock } from "../platform/ports/clock.ts";

/** Limits of AWS that this process can keep. */
export interface AwsLimits {
  /**
   * Write units per second of one DynamoDB partition. A unit is 1 kB of an item.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
   */
  readonly writeUnits: number;
  /** Read units per second of one partition: 4 kB of an item, or 8 kB of an index. The same page. */
  readonly readUnits: number;
  /**
   * Calls per second of each API of the FIFO queue: SendMessage and ReceiveMessage.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
   */
  readonly queueCalls: number;
  /** SendMessage calls per second of one message group. The same page. */
  readonly groupCalls: number;
  /**
   * Number of messages, the oldest ones, in which a FIFO queue looks for available groups.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/avoid-backlog-with-the-same-message-group-id.html
   */
  readonly lookAhead: number;
  /** Whether the queue drops a repeated deduplication id only within a group. */
  readonly deduplicatesByGroup: boolean;
  /**
   * PutEvents entries per second. AWS documents requests; each has up to ten entries, and each entry succeeds or
   * is throttled by itself, so this counts entries: the stricter reading.
   * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html
   */
  readonly putEvents: number;
  /**
   * GetParameter calls per second, shared by the AWS account.
   * https://docs.aws.amazon.com/general/latest/gr/ssm.html
   */
  readonly getParameter: number;
}

/**
 * The limits that AWS documents for eu-central-1 in November 2026; other regions have more or less. A test replaces
 * single ones by smaller ones.
 * @param isHighThroughputFifo `FifoThroughputLimit: perMessageGroupId` with `DeduplicationScope: messageGroup`, as a
 * stage is deployed
 */
export const awsLimitsOf = (isHighThroughputFifo = true): AwsLimits => ({
  writeUnits: 1_000,
  readUnits: 3_000,
  queueCalls: isHighThroughputFifo ? 19_000 : 300,
  groupCalls: 300,
  lookAhead: 120_000,
  deduplicatesByGroup: isHighThroughputFifo,
  putEvents: 2_400,
  getParameter: 40,
});

/** A call that AWS refuses because a limit is reached. It had no effect. */
export class ThrottledError extends Error {
  /** @param code of AWS, which the SDK shows as the name */
  constructor(code: string, limit: string) {
    super(`AWS throttles ${limit}`);
    this.name = code;
  }
}

/** The use of one limit, by key, in each whole second of the clock. */
export interface Rate {
  /** Whether the key has anything left in this second. */
  isOpen(key: string): boolean;
  /** Uses units; negative ones are given back. What exceeds the limit counts in the following seconds. */
  charge(key: string, units: number): void;
}

/**
 * Counts in windows of one second, in constant time. A call passes while less than the limit is used, whatever it
 * costs, as in DynamoDB; so a large item passes too. Unlike AWS it saves nothing of an idle second: DynamoDB may
 * grant unused units of up to five minutes, but promises none.
 */
export const createRate = (clock: Pick<Clock, "now">, limit: () => number): Rate => {
  const used = new Map<string, number>();
  let second = 0;
  const advance = (): void => {
    const now = Math.floor(clock.now() / 1_000);
    if (now <= second) return;
    const regained = (now - second) * limit();
    second = now;
    for (const [key, units] of used) {
      if (units > regained) used.set(key, units - regained);
      else used.delete(key);
    }
  };
  return {
    isOpen(key) {
      advance();
      return (used.get(key) ?? 0) < limit();
    },
    charge(key, units) {
      advance();
      used.set(key, Math.max(0, (used.get(key) ?? 0) + units));
    },
  };
};

/** Reports each throttled call. @param limit such as `due index writes` */
export type OnThrottled = (limit: string) => void;
