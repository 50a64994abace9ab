import type { Context, ScheduledEvent, SQSBatchResponse, SQSEvent } from "aws-lambda";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import { fifoQueueEvent, scheduledEvent, wakeQueueEvent } from "./aws-events.ts";
import type { DelayQueue } from "./delay-queue.ts";
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
/** How often the queues are looked at: soon enough for a person, cheap enough for a laptop. */
const IDLE_MS = 20;

export interface TriggerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
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
  const { clock, random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const repeat = async (work: () => Promise<boolean>, pauseMs: number): Promise<void> => {
    while (!signal.aborted) {
      const isBusy = await work();
      if (!isBusy) await clock.sleep(pauseMs, signal);
    }
  };
  const schedule = async (): Promise<boolean> => {
    await invokePollTasks(options, scheduledEvent("poll-tasks", clock.now(), random));
    return false;
  };
  const loops = [
    ...Array.from({ length: MAX_INVOCATIONS }, () =>
      repeat(() => invokeRunCommands(options), IDLE_MS),
    ),
    repeat(() => invokeByWake(options), IDLE_MS),
    repeat(schedule, SCHEDULE_MS),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
};
