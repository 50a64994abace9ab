import numbers from "./deployment.json" with { type: "json" };

/** Limits of a function's runs. */
interface RunNumbers {
  /** Of one run. */
  readonly timeoutSeconds: number;
}

/** How Lambda calls a function with the messages of a queue. */
interface BatchNumbers {
  /** Messages a call at most. A FIFO queue hands out ten at once. */
  readonly batchSize: number;
  /** Calls side by side at most. A limit, which reserves nothing; 2 is the least there is. */
  readonly maximumConcurrency: number;
}

/** Retries of an asynchronous call or event. */
interface RetryNumbers {
  readonly retryAttempts: number;
  /** What is older is not retried. Lambda takes 60 s to 6 h. */
  readonly eventAgeSeconds: number;
}

interface QueueNumbers {
  /** Six timeouts of the function that reads the queue, as AWS asks for. */
  readonly visibilitySeconds: number;
  /** Longer than all receives together. SQS keeps a message for 14 days at most. */
  readonly retentionSeconds: number;
  /** A message that was received more often becomes a dead letter. */
  readonly maxReceiveCount: number;
}

interface ScheduleNumbers {
  /** In the words of EventBridge Scheduler. */
  readonly expression: string;
  /** The same in seconds. */
  readonly periodSeconds: number;
  /** Scheduler keeps a tick that is older as a dead letter. At least 60, at most a period. */
  readonly tickAgeSeconds: number;
}

/**
 * The numbers of a deployment, each written once, in deployment.json. osls and infra/*.cjs make AWS
 * resources of them; local runs, simulations and tests behave by the same.
 */
interface Deployment {
  /** Of every function. A bundle takes about 80 MB to load; the rest buys a third of a CPU. */
  readonly memoryMegabytes: number;
  /** Longer than dead letters are kept, so that a dead letter's log lines are still there. */
  readonly logRetentionDays: number;
  /**
   * Of one request to the provider. A slow reply is an ambiguous send, so rather wait; but twice this
   * fits into a run.
   */
  readonly attemptTimeoutSeconds: number;
  /**
   * How long an attempt at a command belongs to the run that began it. By 15 s, which clocks may differ
   * by, longer than run-commands may live: an expired lease has no living holder.
   */
  readonly attemptLeaseSeconds: number;
  readonly functions: {
    /**
     * Reads the ledger once and sends one message for each event; the rest of the timeout is for slow
     * replies. Rules of earlier stages call it without a queue, hence the retries, for as long as Lambda
     * keeps a call. Its concurrency is a setting of the stage (`intakeMaximumConcurrency`).
     */
    readonly intake: RunNumbers & Pick<BatchNumbers, "batchSize"> & RetryNumbers;
    /**
     * A short timeout: a crashed run keeps its lanes shut for six times this. A burst of commands waits in
     * the queue, not at the provider, and leaves the AWS account's concurrency to other functions.
     */
    readonly "run-commands": RunNumbers & BatchNumbers;
    /**
     * A run with work left lasts until the next tick, which is also the retry of a failed one. One run
     * holds the lease; a second one ends at once.
     */
    readonly "poll-tasks": RunNumbers & BatchNumbers & RetryNumbers;
    /**
     * 2,000 changes at 20 requests a second take 100 s; the next run does what is left. Lambda repeats a
     * sync that could not finish after one minute and after two more.
     */
    readonly "sync-thresholds": RunNumbers & RetryNumbers;
    /**
     * 500 items at 20 requests a second take 25 s, and a provider may be slow or ask for pauses. A
     * repeated run continues where it stopped: it is the same run within its hour.
     */
    readonly "snapshot-prices": RunNumbers & RetryNumbers;
    /** The first run reads every page, the others read one. The next tick is the retry of a failed one. */
    readonly "watch-ai-tasks": RunNumbers & RetryNumbers;
  };
  readonly queues: {
    /** Ten times three minutes outlast half an hour in which ledger, command queue or bus do not answer. */
    readonly requests: QueueNumbers;
    /**
     * A crashed group opens within three minutes. Attempts at the provider are the ledger's and cost no
     * receive; a receive is lost when nothing can be recorded, which may last half an hour.
     */
    readonly commands: QueueNumbers;
    /**
     * The schedule does the work of a lost wake, so three receives are enough, and an hour's retention:
     * longer than the longest delay (15 min) and all receives (18 min) together.
     */
    readonly wake: QueueNumbers;
  };
  /** The longest that SQS keeps a message: two weeks for an operator to look. */
  readonly deadLetterRetentionSeconds: number;
  readonly schedules: {
    /** The safety net under the wake queue: a due entry is seen within a minute. */
    readonly "poll-tasks": ScheduleNumbers;
    /** Finds changes made at the provider, and configs whose event was lost. */
    readonly "threshold-drift": ScheduleNumbers;
    /** Ticks in the middle of the hour that names the run, so that no tick falls into another's. */
    readonly "price-snapshot": ScheduleNumbers;
    readonly "ai-tasks": ScheduleNumbers;
  };
  /** How often Scheduler repeats a tick that Lambda did not take. */
  readonly tickRetryAttempts: number;
  /** How long EventBridge tries to deliver an event; then it is a dead letter. */
  readonly delivery: {
    /** To intake and to subscribers: a day, which is EventBridge's own limit. */
    readonly rules: RetryNumbers;
    /** To sync-thresholds, when a config was written. Later, the hourly check for drift finds it. */
    readonly writtenConfig: RetryNumbers;
  };
  /** A subscriber may find out at the end of a quarter what it lost at its beginning. */
  readonly archiveRetentionDays: number;
}

export const deployment: Deployment = numbers;

export type FunctionName = keyof Deployment["functions"];

export const ATTEMPT_TIMEOUT_MS = deployment.attemptTimeoutSeconds * 1000;
export const ATTEMPT_LEASE_MS = deployment.attemptLeaseSeconds * 1000;

export const timeoutMsOf = (name: FunctionName): number =>
  deployment.functions[name].timeoutSeconds * 1000;

export const visibilityMsOf = (queue: keyof Deployment["queues"]): number =>
  deployment.queues[queue].visibilitySeconds * 1000;

export const periodMsOf = (schedule: keyof Deployment["schedules"]): number =>
  deployment.schedules[schedule].periodSeconds * 1000;
