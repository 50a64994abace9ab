import { setMaxListeners } from "node:events";
import type { Context, SQSBatchResponse } from "aws-lambda";
import { messageText } from "../engine/queue-message.ts";
import { deployment, type FunctionName, visibilityMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Skyhook } from "../skyhook.ts";
import { fifoQueueEvent, requestQueueEvent, scheduledEvent, wakeQueueEvent } from "./aws-events.ts";
import { type DelayQueue, openDelayQueue, type Wake } from "./delay-queue.ts";
import type { DurableStore } from "./durable-store.ts";
import {
  createQueueSource,
  createWakeSignal,
  type Disturbance,
  type QueueSource,
  type QueueSourceOptions,
  runSchedule,
  type Schedule,
  undisturbed,
} from "./event-sources.ts";
import { type FifoQueue, openFifoQueue, type ReceivedMessage } from "./fifo-queue.ts";
import { createLambda, type Ending, type Lambda, type Machine, numbersOf } from "./lambda.ts";
import type { LimitedAws } from "./limited-aws.ts";

/** The handler of each function. */
const HANDLERS = {
  intake: "intake",
  "run-commands": "runCommands",
  "poll-tasks": "pollTasks",
  "sync-thresholds": "syncThresholds",
  "snapshot-prices": "snapshotPrices",
  "watch-ai-tasks": "watchAiTasks",
} as const satisfies Record<FunctionName, keyof Skyhook>;

const FUNCTIONS = Object.keys(HANDLERS) as readonly FunctionName[];

/** The event of a function. */
type EventOf<N extends FunctionName> = Parameters<Skyhook[(typeof HANDLERS)[N]]>[0];

const invokeHandler = (name: FunctionName, event: unknown) => {
  // Each name has its own type of event, which the callers below and `EventOf` keep.
  type Handler = (event: unknown, context: Context) => Promise<unknown>;
  return ({ skyhook }: Machine, context: Context): Promise<unknown> =>
    (skyhook[HANDLERS[name]] as Handler)(event, context);
};

type QueueName = keyof typeof deployment.queues;

/** Numbers of a queue and its event source. */
interface QueueNumbers {
  /** Time for which a received message is hidden. */
  readonly visibilityMs: number;
  /** Number of receives after which a message becomes a dead letter. */
  readonly maxReceiveCount: number;
  /** Maximum number of invocations by the event source at the same time. */
  readonly maximumConcurrency: number;
}

/** The default of the setting `intakeMaximumConcurrency` of a stage. */
const INTAKE_CONCURRENCY = 10;

const deployedNumbers = (queue: QueueName): QueueNumbers => ({
  visibilityMs: visibilityMsOf(queue),
  maxReceiveCount: deployment.queues[queue].maxReceiveCount,
  maximumConcurrency: {
    requests: INTAKE_CONCURRENCY,
    commands: deployment.functions["run-commands"].maximumConcurrency,
    wake: deployment.functions["poll-tasks"].maximumConcurrency,
  }[queue],
});

/** A function that schedules call. */
type ScheduledFunction = Exclude<FunctionName, "intake" | "run-commands">;

/** A schedule with its function. */
export interface FunctionSchedule extends Schedule {
  /** Name of the schedule, as in `deployment.json`. */
  readonly name: keyof typeof deployment.schedules;
  readonly target: ScheduledFunction;
  /** Shard of the due index that a tick of the poller handles; default: none is named. */
  readonly shard?: number;
}

type Tick = Pick<FunctionSchedule, "name" | "target" | "shard">;

export interface CloudOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Has the maps `requests`, `commands.fifo` and `wake`. */
  readonly store: DurableStore;
  /**
   * Keeps AWS's limits at the command queue; the ports of the machines need its other methods. Default: none.
   */
  readonly aws?: LimitedAws;
  /** Decides about faults of deliveries, acknowledgements, ticks and notifications; default: none. */
  readonly disturbance?: Disturbance;
  /** Replaces numbers of `deployment.json`. */
  readonly numbers?: Partial<Record<QueueName, Partial<QueueNumbers>>>;
}

/** What the cloud runs. */
export interface CloudStart {
  /** Starts a machine for a function. @param name unique, such as `intake-1` */
  readonly startMachine: (target: FunctionName, name: string) => Machine;
  readonly schedules: readonly FunctionSchedule[];
}

/**
 * The AWS of this process: queues with their event sources, functions with their machines, and schedules. It
 * runs on its clock port: in real time, or in virtual time. Faults come from the disturbance port:
 *
 * | occurrence | kinds |
 * |---|---|
 * | `delivery Q` of a batch of the queue Q (`requests`, `commands`, `wake`) | `comes again early`, `comes twice`, `held up` |
 * | `acknowledgement Q` of one message | `acknowledgement lost` |
 * | `event ID` in the queue `requests` | `event twice` |
 * | `notification F` of the function F | `event late`, `event twice` |
 * | `tick S` of the schedule S | `tick lost`, `tick twice` |
 *
 * It also draws the size of each batch.
 */
export interface Cloud {
  /** A standard queue in AWS: each message has a group of its own. `put` sends to it. */
  readonly requestQueue: FifoQueue;
  /** The port `queue` of the functions. */
  readonly commandQueue: FifoQueue;
  /** The port `waker` of the functions. */
  readonly wakeQueue: DelayQueue;
  /**
   * Sends the call of a bus rule to the queue `requests`: an event, or `{ reaction, event }`. Resolves when it
   * is stored.
   * @param id unique; default: random
   */
  put(call: unknown, id?: string): Promise<void>;
  /** Starts event sources and schedules. Call it once. */
  start(start: CloudStart): void;
  /** Invokes a function once and waits for its end. Call it after `start`. */
  invoke<N extends FunctionName>(target: N, event: EventOf<N>): Promise<Ending<unknown>>;
  /**
   * Calls a function asynchronously with an event, as a rule of EventBridge does: the event may be late or come
   * twice, and a failed invocation is repeated. Resolves to whether every call ended well.
   */
  notify<N extends FunctionName>(target: N, event: EventOf<N>): Promise<boolean>;
  /** Calls a function asynchronously, as one tick of its schedule does. Resolves as `notify` does. */
  tick(schedule: Tick): Promise<boolean>;
  /**
   * Reports whether work is left: messages, invocations by them, asynchronous calls and their retries. Dead
   * letters, wakes and runs of the poller do not count, because a poller may always run.
   */
  isBusy(): boolean;
  /** Ends event sources and schedules. Resolves when no invocation is under way. */
  stop(): Promise<void>;
}

/** @throws the errors of the store */
export const openCloud = async (options: CloudOptions): Promise<Cloud> => {
  const { clock, random, log, store, disturbance = undisturbed } = options;
  const numbersOfQueue = (queue: QueueName): QueueNumbers => ({
    ...deployedNumbers(queue),
    ...options.numbers?.[queue],
  });
  const signals = {
    requests: createWakeSignal(),
    commands: createWakeSignal(),
    wake: createWakeSignal(),
  };
  const queueOptions = (name: QueueName, map: string) => ({
    ...{ clock, random, map: store.map(map) },
    maxReceiveCount: numbersOfQueue(name).maxReceiveCount,
    onMessage: signals[name].notify,
  });
  const requestQueue = await openFifoQueue(queueOptions("requests", "requests"));
  const fifoQueue = await openFifoQueue({
    ...queueOptions("commands", "commands.fifo"),
    // Look-ahead and scope of deduplication.
    ...options.aws?.limits,
  });
  const commandQueue = options.aws?.queue(fifoQueue) ?? fifoQueue;
  const wakeQueue = await openDelayQueue(queueOptions("wake", "wake"));

  const stopping = new AbortController();
  // One listener for each late event and retry.
  setMaxListeners(0, stopping.signal);
  let lambdas: Readonly<Record<FunctionName, Lambda<Machine>>> | undefined;
  let sources: readonly QueueSource[] = [];
  let loops: readonly Promise<void>[] = [];
  let pending = 0;

  const lambdaOf = (name: FunctionName): Lambda<Machine> => {
    if (!lambdas) throw new Error("the cloud has not been started");
    return lambdas[name];
  };

  /** Work that continues after its cause, such as a late event. */
  const later = async (delayMs: number, work: () => Promise<boolean>): Promise<boolean> => {
    pending += 1;
    try {
      if (delayMs > 0) await clock.sleep(delayMs, stopping.signal);
      return stopping.signal.aborted ? false : await work();
    } finally {
      pending -= 1;
    }
  };

  const put = async (call: unknown, id: string): Promise<true> => {
    // A standard queue: each message has a group of its own.
    const body = messageText(JSON.stringify(call));
    await requestQueue.send({ body, groupId: id, deduplicationId: id });
    return true;
  };

  const sourceOf = <M extends { readonly messageId: string; readonly receiptHandle: string }>(
    name: QueueName,
    target: "intake" | "run-commands" | "poll-tasks",
    own: Pick<QueueSourceOptions<M>, "queue"> & { toEvent: (messages: readonly M[]) => unknown },
  ): QueueSource =>
    createQueueSource({
      ...{ clock, log, disturbance, name },
      ...numbersOfQueue(name),
      queue: own.queue,
      changed: signals[name],
      batchSize: deployment.functions[target].batchSize,
      async invoke(messages) {
        const ending = await lambdaOf(target).invoke(invokeHandler(target, own.toEvent(messages)));
        if (ending.kind !== "answered") return ending;
        const answer = ending.answer as SQSBatchResponse | undefined;
        const failures = answer?.batchItemFailures ?? [];
        return {
          kind: "answered",
          answer: failures.map(({ itemIdentifier }) => itemIdentifier),
        };
      },
    });

  const openSources = (): readonly QueueSource[] => [
    sourceOf<ReceivedMessage>("requests", "intake", {
      queue: requestQueue,
      toEvent: (messages) => requestQueueEvent("requests", messages),
    }),
    sourceOf<ReceivedMessage>("commands", "run-commands", {
      queue: commandQueue,
      toEvent: (messages) => fifoQueueEvent("commands.fifo", messages),
    }),
    sourceOf<Wake & { messageId: string; receiptHandle: string }>("wake", "poll-tasks", {
      queue: {
        ...wakeQueue,
        receive: async (...args) =>
          (await wakeQueue.receive(...args)).map((wake) => ({
            ...wake,
            messageId: wake.wakeId,
            receiptHandle: wake.wakeId,
          })),
      },
      toEvent: (wakes) => wakeQueueEvent("wake", wakes),
    }),
  ];

  const tick = async ({ name, target, shard }: Tick): Promise<boolean> => {
    const { kind } = disturbance.visit(`tick ${name}`, ["tick lost", "tick twice"]);
    const event = { ...scheduledEvent(name, clock.now(), random), shard };
    const count = { "tick lost": 0, "tick twice": 2 }[kind ?? ""] ?? 1;
    const calls = Array.from({ length: count }, () => call(target, event));
    return (await Promise.all(calls)).every(Boolean);
  };

  const call = (target: FunctionName, event: unknown): Promise<boolean> =>
    lambdaOf(target).call(invokeHandler(target, event));

  return {
    requestQueue,
    commandQueue,
    wakeQueue,
    async put(event, id = random.uuid()) {
      await put(event, id);
      const { place, kind } = disturbance.visit(`event ${id}`, ["event twice"]);
      if (kind === "event twice") {
        const lateMs = disturbance.between(`copy ${place}`, 0, 400_000);
        void later(lateMs, () => put(event, random.uuid()));
      }
    },
    start({ startMachine, schedules }) {
      const create = (name: FunctionName): Lambda<Machine> =>
        createLambda({
          ...{ name, clock, random, stopping: stopping.signal },
          ...numbersOf(name),
          startMachine: (machine) => startMachine(name, machine),
        });
      lambdas = Object.fromEntries(FUNCTIONS.map((name) => [name, create(name)])) as Record<
        FunctionName,
        Lambda<Machine>
      >;
      sources = openSources();
      loops = [
        ...sources.map((source) => source.run(stopping.signal)),
        ...schedules.map((schedule) =>
          runSchedule(schedule, () => void tick(schedule), { clock, stopping: stopping.signal }),
        ),
      ];
    },
    invoke: (target, event) => lambdaOf(target).invoke(invokeHandler(target, event)),
    async notify(target, event) {
      const { place, kind } = disturbance.visit(`notification ${target}`, [
        "event late",
        "event twice",
      ]);
      const lateMs = kind === "event late" ? disturbance.between(`late ${place}`, 0, 180_000) : 0;
      const deliver = (delayMs: number) => later(delayMs, () => call(target, event));
      const deliveries = [deliver(lateMs), ...(kind === "event twice" ? [deliver(60_000)] : [])];
      return (await Promise.all(deliveries)).every(Boolean);
    },
    tick,
    isBusy() {
      const [requests, commands] = sources;
      const calls = FUNCTIONS.filter((name) => name !== "poll-tasks");
      return (
        pending > 0 ||
        requestQueue.size() + commandQueue.size() > 0 ||
        (requests?.pending() ?? 0) + (commands?.pending() ?? 0) > 0 ||
        calls.some((name) => lambdaOf(name).underWay() + lambdaOf(name).pendingCalls() > 0)
      );
    },
    async stop() {
      stopping.abort("the cloud stops");
      await Promise.all(loops);
      await Promise.all(FUNCTIONS.map((name) => lambdas?.[name].idle()));
    },
  };
};
