import type { SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import standard from "../../support/fixtures/sqs-standard-event.json" with { type: "json" };
import { updatePolicy } from "../../support/requests.ts";
import { createFunctionWorld, failing } from "./function-world.ts";

const EVENT = {
  version: "0",
  id: "7bf73129-1428-4cd3-a780-95db273d1602",
  "detail-type": "CommandRequested",
  source: "team",
  account: "own",
  time: "2026-01-01T00:00:00Z",
  region: "eu-west-1",
  resources: [],
  detail: updatePolicy("c1"),
};

/** Lambda's event for messages of the queue `requests`; other bodies than text become JSON. */
const queueEvent = (...bodies: readonly unknown[]): SQSEvent => ({
  Records: bodies.map((body, index) => ({
    ...standard.Records[0]!, // the fixture has one
    messageId: `m${index + 1}`,
    body: typeof body === "string" ? body : JSON.stringify(body),
  })),
});

const eventOf = (id: string, detail: object, fields: object = {}) => ({
  ...EVENT,
  id,
  account: "999999999999",
  detail,
  ...fields,
});

const createIntake = async (around?: Parameters<typeof createFunctionWorld>[0]) => {
  const world = await createFunctionWorld(around);
  return { world, handler: world.skyhook().intake };
};

describe("intake, called with messages of its queue", () => {
  it("accepts and acknowledges each event of the batch", async () => {
    const { world, handler } = await createIntake();
    const context = world.contextOf(30_000);

    const answer = await handler(
      queueEvent(eventOf("e1", updatePolicy("c1")), eventOf("e2", updatePolicy("c2"))),
      context,
    );

    expect(answer).toEqual({ batchItemFailures: [] });
    expect(world.publishedTypes("c1")).toEqual(["CommandRejected"]);
    expect(world.publishedTypes("c2")).toEqual(["CommandRejected"]);
    expect(world.bound).toEqual([context]);
  });

  it("returns only the failed events, and logs them", async () => {
    const { world, handler } = await createIntake(failing("ledger.read"));

    const answer = await handler(
      queueEvent(eventOf("e1", updatePolicy("c1")), { ...EVENT, id: "e2" }),
      world.contextOf(30_000),
    );

    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m1" }] });
    expect(world.log.lines).toContainEqual({
      level: "error",
      message: "event not accepted, SQS delivers it again",
      fields: expect.objectContaining({
        messageId: "m1",
        eventId: "e1",
        sender: "999999999999",
        errorMessage: "ledger.read is away",
      }),
    });
  });

  it("fails as a whole when every event failed, so that Lambda counts an error", async () => {
    const { world, handler } = await createIntake(failing("ledger.read"));

    const handling = handler(
      queueEvent(eventOf("e1", updatePolicy("c1"))),
      world.contextOf(30_000),
    );

    await expect(handling).rejects.toThrow("no message of the batch could be handled");
  });

  it("counts and acknowledges a message without an event", async () => {
    const { world, handler } = await createIntake();

    const answer = await handler(queueEvent("{", "[]"), world.contextOf(30_000));

    expect(answer).toEqual({ batchItemFailures: [] });
    expect(world.counted).toEqual(["EventIgnored not-an-event", "EventIgnored not-an-event"]);
  });
});

describe("intake, called with one event by a rule of an earlier version", () => {
  it("rejects a request without rights, and binds its log to the invocation", async () => {
    const { world, handler } = await createIntake();
    const context = world.contextOf(30_000);

    await handler({ ...EVENT, account: "999999999999" }, context);

    const [message] = await world.queue.receive(10, 1_000);
    expect(message).toBeUndefined();
    expect(world.publishedTypes("c1")).toEqual(["CommandRejected"]);
    expect(world.bound).toEqual([context]);
  });

  it("counts a call that no rule sends", async () => {
    const { world, handler } = await createIntake();

    await handler(EVENT, world.contextOf(30_000));

    expect(world.counted).toEqual(["EventIgnored not-an-event"]);
  });

  it("fails for a retry when a rejection cannot be published", async () => {
    const { world, handler } = await createIntake(failing("ledger.read"));

    const handling = handler({ ...EVENT, account: "999999999999" }, world.contextOf(30_000));

    await expect(handling).rejects.toThrow("ledger.read is away");
    expect(world.log.lines.at(-1)).toMatchObject({
      message: "invocation failed",
      fields: { eventId: EVENT.id, sender: "999999999999", errorMessage: "ledger.read is away" },
    });
  });
});
