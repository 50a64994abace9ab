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
 * Time from the limit of an invocation until its messages are visible again. It is shorter than in the cloud,
 * because a local function cannot outlive its invocation.
 */
const VISIBLE_AFTER_MS = 5_000;
const LIMITS_MS = {
  intake: timeoutMsOf("intake"),
  "run-commands": timeoutMsOf("run-commands"),
  "poll-tasks": timeoutMsOf("poll-tasks"),
};
/** Number of concurrent invocations of run-commands. */
const MAX_INVOCATIONS = 4;
/** Polling finds messages that become visible again; the wake signal covers sent ones. */
const POLL_MS = 1_000;

export interface TriggerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Calls of rules to intake; each message has a group of its own. */
  readonly requestQueue: FifoQueue;
  readonly commandQueue: FifoQueue;
  readonly wakeQueue: DelayQueue;
  /** Notified after each message to one of the queues. */
  readonly wakeSignal: WakeSignal;
  readonly intake: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse | undefined>;
  readonly runCommands: (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
  readonly pollTasks: (event: SQSEvent | ScheduledEvent, context: Context) => Promise<void>;
}

export interface Triggers {
  /** Ends the triggers. Resolves when all running invocations have ended. */
  stop(): Promise<void>;
}

/** An event source: a queue and its function. */
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

/** Receives messages, invokes the function and deletes handled messages, as Lambda's event source does. */
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
    // The next messages of their groups are available now.
    options.wakeSignal.notify();
  } catch (error) {
    // The whole batch stays in the queue and is received again, as in the cloud.
    options.log.warn("batch not handled, it will be received again", {
      errorMessage: String(error),
    });
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
    options.log.warn("poller run failed, the next run continues", { errorMessage: String(error) });
  }
};

const invokeByWake = async (options: TriggerOptions): Promise<boolean> => {
  const wakes = options.wakeQueue.takeDue(LIMITS_MS["poll-tasks"]);
  if (wakes.length === 0) return false;
  await invokePollTasks(options, wakeQueueEvent("wake", wakes));
  await options.wakeQueue.acknowledge(wakes);
  return true;
};

/** Starts the triggers: replaces Lambda's event sources and the scheduler of the cloud. */
export const startTriggers = (options: TriggerOptions): Triggers => {
  const { clock, random, log, wakeQueue, wakeSignal } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Catches errors, because an unreadable queue may be readable a moment later. */
  const isBusy = async (work: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await work();
    } catch (error) {
      log.error("queue not readable, retrying", { errorMessage: String(error) });
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
