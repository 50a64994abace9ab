import numbers from "./deployment.json" with { type: "json" };

/** Time limit of a function. */
interface RunNumbers {
  /** Maximum duration of one run. */
  readonly timeoutSeconds: number;
}

/** Limits of Lambda's calls with messages of a queue. */
interface BatchNumbers {
  /** Maximum number of messages in one call. A FIFO queue hands out ten at once. */
  readonly batchSize: number;
  /** Maximum number of parallel calls; at least 2. It reserves no concurrency. */
  readonly maximumConcurrency: number;
}

/** Retries of an asynchronous call or event. */
interface RetryNumbers {
  readonly retryAttempts: number;
  /** Age from which a call or event is not retried. Lambda accepts 60 s to 6 h. */
  readonly eventAgeSeconds: number;
}

interface QueueNumbers {
  /** Six timeouts of the function that reads the queue, as AWS recommends. */
  readonly visibilitySeconds: number;
  /** Longer than all receives together; SQS allows at most 14 days. */
  readonly retentionSeconds: number;
  /** Number of receives after which a message becomes a dead letter. */
  readonly maxReceiveCount: number;
}

interface ScheduleNumbers {
  /** Schedule expression of EventBridge Scheduler. */
  readonly expression: string;
  /** The same in seconds. */
  readonly periodSeconds: number;
  /** Age from which an undelivered tick becomes a dead letter: at least 60, at most one period. */
  readonly tickAgeSeconds: number;
}

/**
 * The numbers of a deployment. deployment.json is their only source: osls and infra/*.cjs configure AWS
 * resources with them, and local runs, simulations and tests use the same values.
 */
interface Deployment {
  /** Memory of every function. A bundle needs about 80 MB to load; 512 MB come with a third of a CPU. */
  readonly memoryMegabytes: number;
  /** Longer than the retention of dead letters, so that the log lines of a dead letter still exist. */
  readonly logRetentionDays: number;
  /**
   * Timeout of one request to the provider. A timeout makes a send ambiguous, so it is long; but two of
   * them fit into a run.
   */
  readonly attemptTimeoutSeconds: number;
  /**
   * Lease of a run on its attempt at a command. It exceeds the timeout of run-commands by 15 s, the assumed
   * maximum difference between clocks: an expired lease has no living holder.
   */
  readonly attemptLeaseSeconds: number;
  readonly functions: {
    /**
     * Reads the ledger once and sends one message for each event; the rest of the timeout is for slow
     * replies. Rules of earlier versions call the function without a queue: the retries are for those calls,
     * for 6 hours, the maximum of Lambda. The concurrency is a setting of the stage (`intakeMaximumConcurrency`).
     */
    readonly intake: RunNumbers & Pick<BatchNumbers, "batchSize"> & RetryNumbers;
    /**
     * The timeout is short because a crashed run blocks its lanes for six times as long. A burst of commands
     * waits in the queue, not at the provider, and leaves the AWS account's concurrency to other functions. A stage
     * may set another concurrency (`runCommandsMaximumConcurrency`).
     */
    readonly "run-commands": RunNumbers & BatchNumbers;
    /**
     * The next tick is also the retry of a failed run. One run holds the lease; a second run ends at once.
     */
    readonly "poll-tasks": RunNumbers & BatchNumbers & RetryNumbers;
    /**
     * 2,000 changes at 20 requests a second take 100 s; the next run does the rest. Lambda repeats an
     * unfinished sync after one minute, and again after two more.
     */
    readonly "sync-thresholds": RunNumbers & RetryNumbers;
    /**
     * 500 items at 20 requests a second take 25 s, and a provider may be slow or ask for pauses. A
     * repeated run continues where the first one stopped, because both belong to the same hour.
     */
    readonly "snapshot-prices": RunNumbers & RetryNumbers;
    /** The first run reads every page, the others read one. The next tick is the retry of a failed one. */
    readonly "watch-ai-tasks": RunNumbers & RetryNumbers;
  };
  readonly queues: {
    /** Ten receives, three minutes apart, survive an outage of ledger, command queue or bus of half an hour. */
    readonly requests: QueueNumbers;
    /**
     * The group of a crashed run opens within three minutes. The ledger counts attempts at the provider, so
     * they cost no receive. A message costs a receive when the ledger fails; ten survive half an hour.
     */
    readonly commands: QueueNumbers;
    /**
     * The schedule replaces a lost wake signal, so three receives are enough. One hour of retention exceeds
     * the longest delay (15 min) and all receives (18 min) together.
     */
    readonly wake: QueueNumbers;
  };
  /**
   * The maximum of SQS, into which the largest event of EventBridge fits. Without it, a queue that was created before
   * August 2025 keeps its 256 kB.
   */
  readonly maxMessageBytes: number;
  /** The maximum of SQS: an operator has two weeks to redrive or delete a dead letter. */
  readonly deadLetterRetentionSeconds: number;
  readonly schedules: {
    /** Finds a due entry within a minute, even if its wake signal is lost. */
    readonly "poll-tasks": ScheduleNumbers;
    /** Finds changes made at the provider, and changed files with a lost event. */
    readonly "threshold-drift": ScheduleNumbers;
    /** Ticks in the middle of the hour of the run, so that a late tick still falls into that hour. */
    readonly "price-snapshot": ScheduleNumbers;
    readonly "ai-tasks": ScheduleNumbers;
  };
  /** Number of retries of a tick that Lambda did not accept. */
  readonly tickRetryAttempts: number;
  /** Retries of EventBridge's deliveries; after them, an event is a dead letter. */
  readonly delivery: {
    /** To intake and to subscribers: one day, the maximum of EventBridge. */
    readonly rules: RetryNumbers;
    /** To sync-thresholds, after a write of the file. The hourly check finds a lost one. */
    readonly writtenConfig: RetryNumbers;
  };
  /** A subscriber can replay the events of a quarter at its end. */
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
