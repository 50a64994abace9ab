import type { SQSBatchResponse } from "aws-lambda";
import {
  fifoQueueEvent,
  requestQueueEvent,
  scheduledEvent,
  wakeQueueEvent,
} from "../../../lib/local/aws-events.ts";
import type { FifoQueue, ReceivedMessage } from "../../../lib/local/fifo-queue.ts";
import {
  ATTEMPT_LEASE_MS,
  deployment,
  type FunctionName,
  periodMsOf,
  visibilityMsOf,
} from "../../../lib/platform/deployment.ts";
import type { End, Invocations } from "./invocations.ts";
import type { Parts } from "./parts.ts";

/** Shorter than deployed, with the same outcome; longer than a lease. */
const VISIBILITY_MS = ATTEMPT_LEASE_MS + 5_000;
/** Later than the start, or every scenario would contain a tick at once. */
const FIRST_TICK_MS = 20_000;
/** Lambda's pauses between attempts of an asynchronous call. */
const RETRY_PAUSES_MS = [60_000, 120_000];

/** An asynchronous call. */
interface AsyncCall {
  readonly name: FunctionName;
  readonly event: unknown;
  readonly dueAt: number;
  /** Whether Lambda retries it; otherwise the next tick is the retry. */
  readonly isRetried: boolean;
  /** Pauses before the remaining retries, ms. */
  readonly pauses: readonly number[];
}

/** The function of each queue. */
interface Mapping {
  readonly name: "intake" | "run-commands";
  readonly queue: FifoQueue;
  /** Name of the queue in the names of calls. */
  readonly queueName: string;
  readonly toEvent: (batch: readonly ReceivedMessage[]) => unknown;
}

/** Ids of the failed messages; undefined when no answer arrived. */
const failedOf = (end: End): ReadonlySet<string> | undefined => {
  if (end.kind !== "answered") return undefined;
  // The answer of run-commands and intake.
  const { batchItemFailures } = end.answer as SQSBatchResponse;
  return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
};

/** The triggers of the functions: queues, schedules and asynchronous calls. */
export const createEventSources = (parts: Parts, invocations: Invocations) => {
  const { clock, queue, requestQueue, wakes, faults, random } = parts;
  const mappings: readonly Mapping[] = [
    {
      name: "intake",
      queue: requestQueue,
      queueName: "requests",
      toEvent: (batch) => requestQueueEvent("requests", batch),
    },
    {
      name: "run-commands",
      queue,
      queueName: "queue",
      toEvent: (batch) => fifoQueueEvent("commands.fifo", batch),
    },
  ];
  const waiting = new Set<AsyncCall>();
  const givenUp: string[] = [];
  const visibleAgainAt = new Set<number>();
  let nextTickAt = clock.now() + FIRST_TICK_MS;

  /**
   * A function that is killed here has done its work, and is called again. @returns whether the
   * acknowledgement took effect
   */
  const acknowledge = async (sandbox: number, name: string, effect: () => Promise<unknown>) => {
    try {
      await faults.around({ name, invocation: sandbox }, effect);
      return true;
    } catch {
      return false;
    }
  };

  const startCall = (call: AsyncCall): void => {
    waiting.delete(call);
    const { name, event, isRetried } = call;
    const again = (): void => {
      if (!isRetried) return;
      const [pause, ...pauses] = call.pauses;
      if (pause === undefined) givenUp.push(name);
      else waiting.add({ ...call, dueAt: clock.now() + pause, pauses });
    };
    invocations.start(name, event, async (end, sandbox) => {
      if (end.kind !== "answered") return again();
      if (!(await acknowledge(sandbox, "call.acknowledge", async () => undefined))) again();
    });
  };

  const startDueCalls = (): void => {
    for (const call of waiting) if (call.dueAt <= clock.now()) startCall(call);
  };

  /** @returns whether all messages were handled and deleted */
  const acknowledgeAll = async (
    { queue, queueName }: Mapping,
    sandbox: number,
    handled: readonly ReceivedMessage[],
  ): Promise<boolean> => {
    let areGone = true;
    for (const { receiptHandle } of handled) {
      const take = () => queue.acknowledge(receiptHandle);
      if (!(await acknowledge(sandbox, `${queueName}.acknowledge`, take))) areGone = false;
    }
    return areGone;
  };

  const startBatch = (mapping: Mapping, batch: readonly ReceivedMessage[]): void => {
    const againAt = clock.now() + VISIBILITY_MS;
    invocations.start(mapping.name, mapping.toEvent(batch), async (end, sandbox) => {
      const failed = failedOf(end);
      const handled = failed ? batch.filter(({ messageId }) => !failed.has(messageId)) : [];
      const areGone = await acknowledgeAll(mapping, sandbox, handled);
      if (!areGone || handled.length < batch.length) visibleAgainAt.add(againAt);
    });
  };

  const startBatches = async (mapping: Mapping): Promise<void> => {
    const { batchSize } = deployment.functions[mapping.name];
    for (;;) {
      const batch = await mapping.queue.receive(batchSize, VISIBILITY_MS);
      if (batch.length === 0) return;
      startBatch(mapping, batch);
    }
  };

  const startByWake = async (): Promise<void> => {
    const due = await wakes.receive(Number.MAX_SAFE_INTEGER, visibilityMsOf("wake"));
    if (due.length === 0) return;
    invocations.start("poll-tasks", wakeQueueEvent("wake", due), async (end, sandbox) => {
      if (end.kind !== "answered") return;
      await acknowledge(sandbox, "wake.acknowledge", async () => {
        for (const { wakeId } of due) await wakes.acknowledge(wakeId);
      });
    });
  };

  const startByTick = (): void => {
    if (clock.now() < nextTickAt) return;
    nextTickAt += periodMsOf("poll-tasks");
    // The next tick is the retry of a failed one.
    const tick = scheduledEvent("poll-tasks", clock.now(), random);
    invocations.start("poll-tasks", tick, async () => undefined);
  };

  const messagesLeft = async (): Promise<number> => {
    const records = [...(await parts.messages.load()), ...(await parts.requests.load())];
    return records.filter(([key]) => key.startsWith("message/")).length;
  };

  return {
    /** Makes an asynchronous call, as EventBridge and Scheduler do. */
    call(name: FunctionName, event: unknown, { isRetried = true } = {}): void {
      waiting.add({ name, event, dueAt: clock.now(), isRetried, pauses: RETRY_PAUSES_MS });
    },
    async startDue(): Promise<void> {
      for (const at of visibleAgainAt) if (at <= clock.now()) visibleAgainAt.delete(at);
      startDueCalls();
      for (const mapping of mappings) await startBatches(mapping);
      await startByWake();
      startByTick();
    },
    /** The next instant with a possible start, epoch ms. */
    nextAt: (): number =>
      Math.min(
        nextTickAt,
        wakes.nextAt() ?? Number.POSITIVE_INFINITY,
        ...visibleAgainAt,
        ...[...waiting].map(({ dueAt }) => dueAt),
      ),
    /** Whether any call is outstanding, wake signals and ticks aside. */
    isBusy: async (): Promise<boolean> => waiting.size > 0 || (await messagesLeft()) > 0,
    /** Number of messages of both queues, waiting or in flight. */
    messagesLeft,
    /** Functions with calls that failed at every retry. */
    givenUp,
  };
};
