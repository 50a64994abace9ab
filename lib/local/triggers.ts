import type { Context, ScheduledEvent, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { deployment, periodMsOf, timeoutMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import {
  fifoQueueEvent,
  lambdaContext,
  requestQueueEvent,
  scheduledEvent,
  wakeQueueEvent,
} from "./aws-events.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { FifoQueue, ReceivedMessage } from "./fifo-queue.ts";

/** Wakes the worker loops when a queue changes, so that they need not poll all the time. */
export interface WakeSignal {
  /** Aborts at the next notification. Take it before reading a queue, so that none is missed. */
  next(): AbortSignal;
  notify(): void;
}

export const createWakeSignal = (): WakeSignal => {
  let next = new AbortController();
  return {
    next: () => next.signal,
    notify() {
      const current = next;
      next = new AbortController();
      current.abort();
    },
  };
};

/**
 * Messages are visible again so long after the end of an invocation. That is sooner than in the cloud: a
 * function cannot outlive its invocation here.
 */
const VISIBLE_AFTER_MS = 5_000;
const LIMITS_MS = {
  intake: timeoutMsOf("intake"),
  "run-commands": timeoutMsOf("run-commands"),
  "poll-tasks": timeoutMsOf("poll-tasks"),
};
/** Groups are worked on side by side by this many invocations. */
const MAX_INVOCATIONS = 4;
/** The wake signal covers sent messages; those that become visible again are found by polling. */
const POLL_MS = 1_000;

export interface TriggerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** What the rules send to intake: each message in a group of its own. */
  readonly requestQueue: FifoQueue;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
  /** Notified by everything that sends to one of the queues. */
  readonly wakeSignal: WakeSignal;
  readonly intake: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse | undefined>;
  readonly runCommands: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
  readonly pollTasks: (event: SQSEvent | ScheduledEvent, context: Context) => Promise<void>;
}

export interface Triggers {
  /** Lets running invocations end; resolves when they have. */
  stop(): Promise<void>;
}

/** Which function gets the messages of which queue. */
interface Mapping {
  readonly functionName: "intake" | "run-commands";
  readonly queue: FifoQueue;
  readonly toEvent: (messages: readonly ReceivedMessage[]) => SQSEvent;
  readonly invoke: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse | undefined>;
}

const mappingsOf = (options: TriggerOptions) => {
  const intake: Mapping = {
    functionName: "intake",
    queue: options.requestQueue,
    toEvent: (messages) => requestQueueEvent("requests", messages),
    invoke: options.intake,
  };
  const runCommands: Mapping = {
    functionName: "run-commands",
    queue: options.commandQueue,
    toEvent: (messages) => fifoQueueEvent("commands.fifo", messages),
    invoke: options.runCommands,
  };
  return { intake, runCommands };
};

/** Receives, invokes, deletes what was handled, as Lambda's event source for SQS does. */
const invokeByMessages = async (options: TriggerOptions, mapping: Mapping): Promise<boolean> => {
  const { functionName, queue, toEvent, invoke } = mapping;
  const { batchSize } = deployment.functions[functionName];
  const limitMs = LIMITS_MS[functionName];
  const messages = await queue.receive(batchSize, limitMs + VISIBLE_AFTER_MS);
  if (messages.length === 0) return false;
  try {
    const context = lambdaContext(functionName, limitMs, options);
    const { batchItemFailures = [] } = (await invoke(toEvent(messages), context)) ?? {};
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const handled = messages.filter(({ messageId }) => !failed.has(messageId));
    for (const { receiptHandle } of handled) await queue.acknowledge(receiptHandle);
    // The messages behind them in their groups are free now.
    options.wakeSignal.notify();
  } catch (error) {
    // The whole batch stays and comes again, as it would in the cloud.
    options.log.warn("batch not handled, it comes again", { errorMessage: String(error) });
  }
  return true;
};

const invokePollTasks = async (
  options: TriggerOptions,
  event: SQSEvent | ScheduledEvent,
): Promise<void> => {
  try {
    const context = lambdaContext("poll-tasks", LIMITS_MS["poll-tasks"], options);
    await options.pollTasks(event, context);
  } catch (error) {
    options.log.warn("poll not finished, the next one goes on", { errorMessage: String(error) });
  }
};

const invokeByWake = async (options: TriggerOptions): Promise<boolean> => {
  const wakes = options.wakeQueue.takeDue(LIMITS_MS["poll-tasks"]);
  if (wakes.length === 0) return false;
  await invokePollTasks(options, wakeQueueEvent("wake", wakes));
  await options.wakeQueue.acknowledge(wakes);
  return true;
};

/** Does for the functions what Lambda's event sources and the scheduler do in the cloud. */
export const startTriggers = (options: TriggerOptions): Triggers => {
  const { clock, random, log, wakeQueue, wakeSignal } = options;
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
      const changed = wakeSignal.next();
      if (!(await isBusy(work))) await clock.sleep(pauseMs(), changed);
    }
  };
  const untilNextWake = (): number => {
    const nextAt = wakeQueue.nextAt() ?? Number.POSITIVE_INFINITY;
    return Math.min(POLL_MS, nextAt - clock.now());
  };
  const schedule = async (): Promise<void> => {
    while (!signal.aborted) {
      await invokePollTasks(options, scheduledEvent("poll-tasks", clock.now(), random));
      await clock.sleep(periodMsOf("poll-tasks"), signal);
    }
  };

  const readQueue = (mapping: Mapping): Promise<void> =>
    repeat(
      () => invokeByMessages(options, mapping),
      () => POLL_MS,
    );

  const { intake, runCommands } = mappingsOf(options);
  const loops = [
    readQueue(intake),
    ...Array.from({ length: MAX_INVOCATIONS }, () => readQueue(runCommands)),
    repeat(() => invokeByWake(options), untilNextWake),
    schedule(),
  ];
  return {
    async stop() {
      stopping.abort();
      wakeSignal.notify();
      await Promise.all(loops);
    },
  };
};
