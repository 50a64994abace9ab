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

/** Settings of an AWS account and of its queue, which decide about limits. */
export interface AwsSettings {
  readonly region: string;
  /** `FifoThroughputLimit: perMessageGroupId` with `DeduplicationScope: messageGroup`. */
  readonly isHighThroughputFifo: boolean;
  /** Parameter Store's setting for higher throughput. */
  readonly isHigherThroughputStore: boolean;
}

/** PutEvents per second, by region; 400 elsewhere. Source: see `AwsLimits.putEvents`. */
const PUT_EVENTS: Readonly<Record<string, number>> = {
  "us-east-1": 10_000,
  "us-west-2": 10_000,
  "eu-west-1": 10_000,
  "us-east-2": 2_400,
  "eu-central-1": 2_400,
  "us-west-1": 1_200,
  "eu-west-2": 1_200,
  "eu-west-3": 600,
};

/** Calls per second of each API in high throughput, by region; 2,400 elsewhere. Source: see `AwsLimits.queueCalls`. */
const HIGH_THROUGHPUT: Readonly<Record<string, number>> = {
  "us-east-1": 70_000,
  "us-west-2": 70_000,
  "eu-west-1": 70_000,
  "us-east-2": 19_000,
  "eu-central-1": 19_000,
  "ap-southeast-1": 9_000,
  "eu-west-2": 4_500,
};

/** The settings of a stage as this repository deploys it. */
const DEPLOYED: AwsSettings = {
  region: "eu-central-1",
  isHighThroughputFifo: true,
  isHigherThroughputStore: false,
};

/** The limits that AWS documents, in November 2026. A test replaces single ones by smaller ones. */
export const awsLimitsOf = (settings: Partial<AwsSettings> = {}): AwsLimits => {
  const { region, isHighThroughputFifo, isHigherThroughputStore } = { ...DEPLOYED, ...settings };
  return {
    writeUnits: 1_000,
    readUnits: 3_000,
    queueCalls: isHighThroughputFifo ? (HIGH_THROUGHPUT[region] ?? 2_400) : 300,
    groupCalls: 300,
    lookAhead: 120_000,
    deduplicatesByGroup: isHighThroughputFifo,
    putEvents: PUT_EVENTS[region] ?? 400,
    getParameter: isHigherThroughputStore ? 10_000 : 40,
  };
};

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
