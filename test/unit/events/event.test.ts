import { describe, expect, test } from "vitest";
import { EVENT_DATA } from "../../../lib/events/catalogue.ts";
import { eventOf, metadataSchema } from "../../../lib/events/event.ts";

const fact = {
  detailType: "CommandSucceeded",
  identity: ["own/c1"],
  subject: "local/policy/1/2/3",
  time: 1_767_225_600_123,
  correlationId: "order-7",
  causationId: "event-1",
  data: { operation: "update-policy" },
} as const;

describe("the event of a fact", () => {
  test("says who, when and why, in the shape that every consumer knows", () => {
    const event = eventOf({ ...fact, account: "local", commandId: "c1" });

    expect(event).toEqual({
      detailType: "CommandSucceeded",
      time: 1_767_225_600_123,
      groupId: "local/policy/1/2/3",
      deduplicationId: "78b70375-5619-5501-82b7-4abea236f876",
      detail: {
        metadata: {
          id: "78b70375-5619-5501-82b7-4abea236f876",
          version: 1,
          time: "2026-01-01T00:00:00.123Z",
          correlationId: "order-7",
          causationId: "event-1",
          account: "local",
          commandId: "c1",
        },
        data: { operation: "update-policy" },
      },
    });
  });

  test("has the id that it had in every earlier release", () => {
    expect(eventOf(fact).deduplicationId).toBe("78b70375-5619-5501-82b7-4abea236f876");
  });

  test("has one id however often, when and about what else it is made", () => {
    const again = eventOf({ ...fact, time: 5, causationId: "x", data: {}, subject: "y" });

    expect(again.deduplicationId).toBe(eventOf(fact).deduplicationId);
  });

  test.each([
    ["another kind of fact", { detailType: "CommandFailed" }],
    ["another subject of the fact", { identity: ["own/c2"] }],
    ["names that only look the same when joined", { identity: ["own", "c1"] }],
  ] as const)("has another id for %s", (_what, change) => {
    expect(eventOf({ ...fact, ...change }).deduplicationId).not.toBe(eventOf(fact).deduplicationId);
  });

  test("leaves out what nobody knows", () => {
    const { metadata } = eventOf(fact).detail;

    expect(metadata).not.toHaveProperty("account");
    expect(metadata).not.toHaveProperty("commandId");
    expect(metadataSchema.safeParse(metadata).success).toBe(true);
  });
});

describe("the catalogue", () => {
  const end = {
    operation: "update-policy",
    params: {},
    lane: "l",
    attempts: 1,
    lostReplies: 0,
    taskIds: [],
    durationMs: 0,
  };

  test.each([
    ["CommandRejected", { operation: "x", reason: "because", problems: [] }],
    ["CommandFailed", { ...end, reason: "because", problems: [] }],
    ["CommandSucceeded", { ...end, outcome: "maybe" }],
    ["CommandSucceeded", { ...end, outcome: "done", durationMs: -1 }],
    ["CommandFailed", { ...end, reason: "deadline" }],
  ] as const)("knows no %s like %j", (detailType, data) => {
    expect(EVENT_DATA[detailType].safeParse(data).success).toBe(false);
  });

  test("lets an event say more than it did, so that consumers need not be changed first", () => {
    const more = { ...end, outcome: "done", weather: "fine" };

    expect(EVENT_DATA.CommandSucceeded.parse(more)).toEqual(more);
  });
});
