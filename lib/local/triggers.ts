import type { Context, ScheduledEvent, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import { fifoQueueEvent, scheduledEvent, wakeQueueEvent } from "./aws-events.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { Doorbell } from "./doorbell.ts";
import type { FifoQueue } from "./fifo-queue.ts";
import { lambdaContext } from "./lambda-context.ts";

/** The functions' own timeouts and the queue's visibility, as `serverless.yml` sets them. */
const RUN_COMMANDS_TIMEOUT_MS = 30_000;
const POLL_TASKS_TIMEOUT_MS = 60_000;
const BATCH_SIZE = 10;
/**
 * Shorter than in the cloud: a function cannot outlive its invocation here, so a message that was
 * not handled may come back soon.
 */
const VISIBILITY_MS = 35_000;
/** Groups are worked on side by side by this many invocations. */
const MAX_INVOCATIONS = 4;
const SCHEDULE_MS = 60_000;
/** The doorbell tells of what is sent; only what becomes visible again is found by looking. */
const LOOK_MS = 1_000;

export interface TriggerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
  /** Rung by whoever sends to one of the queues. */
  readonly doorbell: Doorbell;
  readonly runCommands: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
  readonly pollTasks: (event: SQSEvent | ScheduledEvent, context: Context) => Promise<void>;
}

export interface Triggers {
  /** Lets running invocations end; resolves when they have. */
  stop(): Promise<void>;
}

/** What Lambda's event source for a FIFO queue does: receive, invoke, delete what was handled. */
const invokeRunCommands = async (options: TriggerOptions): Promise<boolean> => {
  const { commandQueue, log } = options;
  const messages = await commandQueue.receive(BATCH_SIZE, VISIBILITY_MS);
  if (messages.length === 0) return false;
  try {
    const event = fifoQueueEvent("commands.fifo", messages);
    const context = lambdaContext("run-commands", RUN_COMMANDS_TIMEOUT_MS, options);
    const answer = await options.runCommands(event, context);
    const failed = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const handled = messages.filter(({ messageId }) => !failed.has(messageId));
    for (const { receiptHandle } of handled) await commandQueue.acknowledge(receiptHandle);
    // What waited behind them in their groups is free now.
    options.doorbell.ring();
  } catch (error) {
    // The whole batch stays and comes again, as it would in the cloud.
    log.warn("batch not handled, it comes again", { errorMessage: String(error) });
  }
  return true;
};

const invokePollTasks = async (
  options: TriggerOptions,
  event: SQSEvent | ScheduledEvent,
): Promise<void> => {
  try {
    await options.pollTasks(event, lambdaContext("poll-tasks", POLL_TASKS_TIMEOUT_MS, options));
  } catch (error) {
    options.log.warn("poll not finished, the next one goes on", { errorMessage: String(error) });
  }
};

const invokeByWake = async (options: TriggerOptions): Promise<boolean> => {
  const wakes = options.wakeQueue.takeDue(POLL_TASKS_TIMEOUT_MS);
  if (wakes.length === 0) return false;
  await invokePollTasks(options, wakeQueueEvent("wake", wakes));
  await options.wakeQueue.acknowledge(wakes);
  return true;
};

/** Does for the functions what Lambda's event sources and the scheduler do in the cloud. */
export const startTriggers = (options: TriggerOptions): Triggers => {
  const { clock, random, log, wakeQueue, doorbell } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Ends no loop: a queue that cannot be read now may be readable a moment later. */
  const isBusy = async (work: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await work();
    } catch (error) {
      log.error("queue not readable, it is tried again", { errorMessage: String(error) });
      return false;
    }
  };
  const repeat = async (work: () => Promise<boolean>, pauseMs: () => number): Promise<void> => {
    while (!signal.aborted) {
      const rung = doorbell.next();
      if (!(await isBusy(work))) await clock.sleep(pauseMs(), rung);
    }
  };
  const untilNextWake = (): number => {
    const nextAt = wakeQueue.nextAt() ?? Number.POSITIVE_INFINITY;
    return Math.min(LOOK_MS, nextAt - clock.now());
  };
  const schedule = async (): Promise<void> => {
    while (!signal.aborted) {
      await invokePollTasks(options, scheduledEvent("poll-tasks", clock.now(), random));
      await clock.sleep(SCHEDULE_MS, signal);
    }
  };

  const loops = [
    ...Array.from({ length: MAX_INVOCATIONS }, () =>
      repeat(
        () => invokeRunCommands(options),
        () => LOOK_MS,
      ),
    ),
    repeat(() => invokeByWake(options), untilNextWake),
    schedule(),
  ];
  return {
    async stop() {
      stopping.abort();
      doorbell.ring();
      await Promise.all(loops);
    },
  };
};
