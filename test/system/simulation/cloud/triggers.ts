import {
  fifoQueueEvent,
  requestQueueEvent,
  scheduledEvent,
} from "../../../../lib/local/aws-events.ts";
import type { ReceivedMessage } from "../../../../lib/local/fifo-queue.ts";
import {
  deployment,
  periodMsOf,
  timeoutMsOf,
  visibilityMsOf,
} from "../../../../lib/platform/deployment.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createLambda, type Lambda } from "./lambda.ts";
import type { Surroundings } from "./machines.ts";
import type { MessageQueue } from "./message-queue.ts";

const MAX_INVOCATIONS = 4;
const LOOK_MS = 500;

const DELIVERY_KINDS = ["comes again early", "comes twice", "held up", "acknowledgement lost"];

interface Undelivered {
  readonly name: string;
  readonly event: unknown;
}

/** An event as a message of the queue `requests`, each in a batch of its own. */
const eventMessage = (messageId: string, body: string, at: number): ReceivedMessage => ({
  messageId,
  receiptHandle: messageId,
  body,
  attributes: {
    ApproximateReceiveCount: "1",
    SentTimestamp: String(at),
    SenderId: "000000000000",
    ApproximateFirstReceiveTimestamp: String(at),
    SequenceNumber: "0",
    MessageDeduplicationId: messageId,
    MessageGroupId: messageId,
  },
});

/** AWS as the functions see it: it delivers messages, events and ticks at least once. */
export interface Triggers {
  /** Starts receiving from the queue, and the ticks of the schedule. */
  start(): void;
  /** Puts an event into the queue `requests`. @param name unique in the run */
  deliver(name: string, event: unknown): void;
  wakeAt(at: number): void;
  /** Dead letters of `requests`: events that intake failed at on every receive. */
  readonly undelivered: Undelivered[];
  /**
   * Whether any work is under way that may still change state. A poller may always be under way, so
   * it does not count.
   */
  isBusy(): boolean;
}

export const createTriggers = (around: Surroundings, queue: MessageQueue): Triggers => {
  const { timeline, chance, faults } = around;
  const random = createSeededRandom(5);
  const commands = createLambda("run-commands", timeoutMsOf("run-commands"), around);
  const poller = createLambda("poll-tasks", timeoutMsOf("poll-tasks"), around);
  const intake = createLambda("intake", timeoutMsOf("intake"), around);
  const undelivered: Undelivered[] = [];
  const wakes = new Set<number>();
  let pending = 0;

  const later = (delayMs: number, work: () => Promise<void>): void => {
    pending += 1;
    timeline.after(delayMs, () => {
      void work().finally(() => {
        pending -= 1;
      });
    });
  };

  const runCommands = async (messages: readonly ReceivedMessage[]) =>
    commands.invoke(({ skyhook }, context) =>
      skyhook.runCommands(fifoQueueEvent("commands.fifo", messages), context),
    );

  const handle = async (
    messages: readonly ReceivedMessage[],
    fate: string | undefined,
    place: string,
  ): Promise<void> => {
    if (fate === "held up") await timeline.sleep(chance.between(`hold ${place}`, 1_000, 90_000));
    const ending = await runCommands(messages);
    if (fate === "comes twice") {
      later(chance.between(`again ${place}`, 0, 120_000), async () => {
        await runCommands(messages);
      });
    }
    if (ending.kind !== "answered" || fate === "acknowledgement lost") return;
    const failed = new Set(
      ending.answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier),
    );
    for (const { messageId, receiptHandle } of messages) {
      if (!failed.has(messageId)) {
        await queue.acknowledge(receiptHandle);
      }
    }
  };

  const lookAtQueue = async (): Promise<void> => {
    while (commands.underWay() < MAX_INVOCATIONS && queue.isReady()) {
      const { place, kind } = faults.visit("delivery", DELIVERY_KINDS);
      const visibilityMs =
        kind === "comes again early"
          ? chance.between(`visible ${place}`, 500, 20_000)
          : visibilityMsOf("commands");
      const size = chance.between(
        `batch ${place}`,
        1,
        deployment.functions["run-commands"].batchSize,
      );
      const messages = await queue.receive(size, visibilityMs);
      if (messages.length === 0) return;
      later(0, () => handle(messages, kind, place));
      // Lets the invocation start, so that it counts as under way.
      await timeline.sleep(1);
    }
  };

  const lookOn = (): void => {
    void lookAtQueue().then(() => timeline.after(LOOK_MS, lookOn));
  };

  const poll = async (): Promise<void> => {
    const event = scheduledEvent("poll-tasks", timeline.now(), random);
    await poller.invoke(({ skyhook }, context) => skyhook.pollTasks(event, context));
  };

  const tick = (): void => {
    timeline.after(periodMsOf("poll-tasks"), tick);
    const { kind } = faults.visit("tick", ["tick lost", "tick twice"]);
    if (kind !== "tick lost") void poll();
    if (kind === "tick twice") void poll();
  };

  const takeIn = async (name: string, event: unknown, receives = 1): Promise<void> => {
    const message = eventMessage(name, JSON.stringify(event), timeline.now());
    const ending = await intake.invoke(({ skyhook }, context) =>
      skyhook.intake(requestQueueEvent("requests", [message]), context),
    );
    if (ending.kind === "answered") return;
    if (receives === deployment.queues.requests.maxReceiveCount) undelivered.push({ name, event });
    else later(visibilityMsOf("requests"), () => takeIn(name, event, receives + 1));
  };

  const isAtWork = (lambda: Lambda): boolean => lambda.underWay() > 0;

  return {
    undelivered,
    start() {
      lookOn();
      tick();
    },
    deliver(name, event) {
      const { place, kind } = faults.visit(`event ${name}`, ["event twice"]);
      later(0, () => takeIn(name, event));
      if (kind === "event twice") {
        later(chance.between(`copy ${place}`, 0, 400_000), () => takeIn(name, event));
      }
    },
    wakeAt(at) {
      // Wake signals of one second start one run.
      const second = Math.ceil(Math.max(at, timeline.now()) / 1_000) * 1_000;
      if (wakes.has(second)) return;
      wakes.add(second);
      timeline.after(second - timeline.now(), () => {
        wakes.delete(second);
        void poll();
      });
    },
    isBusy: () => pending > 0 || isAtWork(commands) || isAtWork(intake),
  };
};
