import { describe, expect, test } from "vitest";
import { requestOf, resumeInstance, shared, updatePolicy } from "../../support/requests.ts";
import { createIntakeWorld, EVENT_SOURCE, eventOf, OWN } from "./intake-world.ts";

const TEAM = "111111111111";
const STRANGER = "333333333333";
const EVENT_ID = "7bf73129-1428-4cd3-a780-95db273d1602";

const world = () => createIntakeWorld({ rights: shared(TEAM) });
const requested = (detail: unknown, fields: Readonly<Record<string, unknown>> = {}) =>
  eventOf(TEAM, "CommandRequested", detail, fields);

describe("a CommandRequested on the bus", () => {
  test("runs as its AWS account, which every event has as sender", async () => {
    const current = await world();

    await current.put(requested(updatePolicy("c1")));
    await current.untilQuiet();

    expect(current.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect((await current.command("c1", TEAM))?.state.status).toBe("succeeded");
    expect(await current.command("c1", OWN)).toBeUndefined();
    for (const { metadata } of current.bus.published()) expect(metadata.sender).toBe(TEAM);
  });

  test("takes its sender from the event's account, whatever its detail contains", async () => {
    const current = await world();
    const { metadata, data } = updatePolicy("c1");
    const claim = { sender: OWN, account: OWN, awsAccount: OWN };

    await current.put(requested({ metadata: { ...metadata, ...claim }, data }));
    await current.put(requested({ metadata, data: { ...data, sender: OWN } }, { id: "second" }));
    await current.untilQuiet();

    expect((await current.command("c1", TEAM))?.sender).toBe(TEAM);
    expect(await current.command("c1", OWN)).toBeUndefined();
    expect(current.bus.published().find(({ metadata: { id } }) => id)?.metadata.sender).toBe(TEAM);
  });

  test("without an id and a time gets those of its event", async () => {
    const current = await world();
    const data = updatePolicy("c1").data;
    const old = "2025-11-01T00:00:00Z";

    await current.put(requested({ metadata: {}, data }));
    await current.put(requested({ metadata: {}, data }, { id: "old", time: old }));
    await current.untilQuiet();

    expect(current.publishedTypes(EVENT_ID).at(-1)).toBe("CommandSucceeded");
    expect(
      current.bus.published().find(({ metadata }) => metadata.commandId === "old")?.data,
    ).toMatchObject({ reason: "too-old" });
  });

  test("goes into the group of its lane, with the id in its metadata as cause", async () => {
    const current = await world();
    const { metadata, data } = updatePolicy("c1");

    await current.put(requested({ metadata: { ...metadata, id: "mine" }, data }));
    const [message] = await current.queue.receive(1, 0);
    await current.deliver();

    expect(message?.attributes.MessageGroupId).toBe("local/policy/1234567/76/1");
    expect((await current.command("c1", TEAM))?.causationId).toBe("mine");
  });

  test("with a lone surrogate as its id is rejected under the event's id", async () => {
    const current = await world();
    const { data } = updatePolicy("c1");

    await current.put(requested({ metadata: { commandId: "\ud800" }, data }));

    expect(current.publishedTypes(EVENT_ID)).toEqual(["CommandRejected"]);
  });

  test("that is delivered twice runs once", async () => {
    const current = await world();

    for (const _ of [1, 2]) await current.put(requested(updatePolicy("c1")));
    await current.untilQuiet();
    await current.clock.advance(6 * 60_000);
    await current.put(requested(updatePolicy("c1")));
    await current.untilQuiet();

    expect(current.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("of another sender under the same id is another command", async () => {
    const current = await createIntakeWorld({ rights: shared(TEAM, STRANGER) });

    await current.put(requested(updatePolicy("c1")));
    await current.put(
      eventOf(STRANGER, "CommandRequested", updatePolicy("c1", { status: "active" })),
    );
    await current.untilQuiet();

    expect((await current.command("c1", TEAM))?.state.status).toBe("succeeded");
    expect((await current.command("c1", STRANGER))?.state.status).toBe("succeeded");
    expect(new Set(current.bus.published().map(({ id }) => id)).size).toBe(4);
  });

  test("that is invalid is rejected at once and never reaches the queue", async () => {
    const current = await world();

    await current.put(requested(resumeInstance("c1", { params: {} })));

    expect(current.publishedTypes("c1")).toEqual(["CommandRejected"]);
    expect(await current.queue.receive(10, 1_000)).toEqual([]);
  });

  test("that is invalid is rejected by another event once its id belongs to a command", async () => {
    const current = await world();
    const invalid = requested(updatePolicy("c1", { status: "broken" }), { id: "invalid" });

    await current.put(invalid);
    await current.put(requested(updatePolicy("c1")));
    await current.untilQuiet();
    await current.put(invalid);

    const [before, after] = current.bus
      .published()
      .filter(({ detailType }) => detailType === "CommandRejected");
    expect(before?.metadata.commandId).toBe("c1");
    expect(after?.data.requestedCommandId).toBe("c1");
    expect(after?.id).not.toBe(before?.id);
  });

  test("succeeds at the next delivery if its message could not be sent", async () => {
    let isAway = true;
    const current = await createIntakeWorld({
      rights: shared(TEAM),
      around: (call, effect) =>
        isAway && call.name === "queue.send" ? Promise.reject(new Error("away")) : effect(),
    });

    await expect(current.put(requested(updatePolicy("c1")))).rejects.toThrow("away");
    isAway = false;
    await current.put(requested(updatePolicy("c1")));
    await current.untilQuiet();

    expect(current.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  });

  test("is rejected once if its rejection is published only at the next delivery", async () => {
    const current = await world();
    const invalid = requested(resumeInstance("c1", { params: {} }));
    current.bus.refuse(() => true);
    await expect(current.put(invalid)).rejects.toThrow("could not be published");

    current.bus.refuse(() => false);
    await current.put(invalid);
    await current.put(invalid);

    expect(new Set(current.bus.published().map(({ id }) => id)).size).toBe(1);
  });
});

test("a rejection is logged with the event, its sender and the requested command", async () => {
  const current = await world();

  await current.put(requested(updatePolicy("c1", { status: "broken" })));

  expect(current.log.lines).toMatchObject([
    {
      message: "request rejected",
      fields: { eventId: expect.any(String), sender: TEAM, commandId: "c1", correlationId: "c1" },
    },
  ]);
});

describe("an event that is not a request", () => {
  test.each([
    ["with our source from another AWS account", { source: EVENT_SOURCE }, "foreign-source"],
    ["of another type", { "detail-type": "InvoicePaid" }, "other-type"],
    ["without an AWS account", { account: "unknown" }, "not-an-event"],
    ["without a detail", { detail: undefined }, "not-an-event"],
    ["with an id longer than those of EventBridge", { id: "e".repeat(129) }, "not-an-event"],
  ])("%s is counted and changes nothing", async (_what, fields, reason) => {
    const current = await world();

    await current.put(requested(updatePolicy("c1"), fields));
    await current.untilQuiet();

    expect(current.counted).toEqual([`EventIgnored ${reason}`]);
    expect(current.publishedTypes()).toEqual([]);
  });
});

test("a request keeps characters that SQS does not accept", async () => {
  const current = await world();
  const odd = { ...requestOf("c1", { ...updatePolicy("c1").data, body: { name: "a\uffff" } }) };

  await current.put(requested(odd));
  await current.put(requested(requestOf("c\uffff", updatePolicy("c1").data), { id: "second" }));
  await current.untilQuiet();

  expect((await current.command("c\uffff", TEAM))?.state.status).toBe("succeeded");
});
