import { describe, expect, it } from "vitest";
import {
  fifoQueueEvent,
  requestQueueEvent,
  scheduledEvent,
  wakeQueueEvent,
} from "../../../lib/local/aws-events.ts";
import { openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import scheduler from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import fifo from "../../support/fixtures/sqs-fifo-event.json" with { type: "json" };
import standard from "../../support/fixtures/sqs-standard-event.json" with { type: "json" };
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/** The data with the type of each value instead of the value. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== "object") return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, child]) => [key, shapeOf(child)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const START = Date.UTC(2026, 0, 31, 12, 0, 0, 500);
const surroundings = () => ({
  map: createMemoryStore().map("test"),
  clock: createVirtualClock(START),
  random: createSeededRandom(),
});

describe("the local triggers", () => {
  it("deliver messages of a FIFO queue in the documented shape", async () => {
    const queue = await openFifoQueue({ ...surroundings(), maxReceiveCount: 5 });
    await queue.send({ body: "Test message.", groupId: "lane", deduplicationId: "event-1" });

    const event = fifoQueueEvent("commands.fifo", await queue.receive(10, 30_000));

    expect(shapeOf(event)).toEqual(shapeOf(fifo));
    expect(event.Records[0]).toMatchObject({
      body: "Test message.",
      md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:commands.fifo",
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: String(START),
        MessageGroupId: "lane",
        MessageDeduplicationId: "event-1",
      },
    });
  });

  it("deliver an event for intake as a message of a standard queue", async () => {
    const queue = await openFifoQueue({ ...surroundings(), maxReceiveCount: 5 });
    await queue.send({ body: '{"id":"e1"}', groupId: "e1", deduplicationId: "e1" });

    const event = requestQueueEvent("requests", await queue.receive(10, 30_000));

    expect(shapeOf(event)).toEqual(shapeOf(standard));
    expect(event.Records[0]).toMatchObject({
      body: '{"id":"e1"}',
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:requests",
    });
  });

  it("deliver a wake signal as a message of a standard queue", async () => {
    const queue = await openDelayQueue({ ...surroundings(), maxReceiveCount: 3 });
    await queue.wakeAt(START, 3);

    const event = wakeQueueEvent("wake", await queue.receive(10, 60_000));

    expect(shapeOf(event)).toEqual(shapeOf(standard));
    expect(event.Records[0]?.body).toBe("3");
  });

  it("deliver a tick of a schedule in the recorded shape", () => {
    const event = scheduledEvent("poll-tasks", START, createSeededRandom());

    expect(shapeOf(event)).toEqual(shapeOf(scheduler));
    expect(event.detail).toBe(scheduler.detail);
    expect(event.time).toBe("2026-01-31T12:00:00Z");
    expect(event.resources).toEqual([
      "arn:aws:scheduler:us-east-1:000000000000:schedule/default/poll-tasks",
    ]);
  });
});
