import { describe, expect, test } from "vitest";
import * as z from "zod";
import { EVENT_DATA, metadataSchema } from "../../../lib/events/catalogue.ts";
import { eventOf } from "../../../lib/events/event.ts";

const end = {
  operation: "update-policy",
  params: {},
  lane: "l",
  attempts: 1,
  lostReplies: 0,
  taskIds: [],
  durationMs: 0,
} as const;

const fact = {
  detailType: "CommandSucceeded",
  identity: ["own/c1"],
  subject: "local/policy/1/2/3",
  time: 1_767_225_600_123,
  correlationId: "order-7",
  causationId: "event-1",
  data: { ...end, outcome: "done" },
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
        data: { ...end, outcome: "done" },
      },
    });
  });

  test("has the id that it had in every earlier release", () => {
    expect(eventOf(fact).deduplicationId).toBe("78b70375-5619-5501-82b7-4abea236f876");
  });

  test("has one id however often, when and about what else it is made", () => {
    const data = { ...fact.data, attempts: 2 };
    const again = eventOf({ ...fact, time: 5, causationId: "x", data, subject: "y" });

    expect(again.deduplicationId).toBe(eventOf(fact).deduplicationId);
  });

  const failure = { ...end, reason: "deadline", problems: [] } as const;

  test.each([
    ["another kind of fact", eventOf({ ...fact, detailType: "CommandFailed", data: failure })],
    ["another subject of the fact", eventOf({ ...fact, identity: ["own/c2"] })],
    ["names that only look the same when joined", eventOf({ ...fact, identity: ["own", "c1"] })],
  ])("has another id for %s", (_what, other) => {
    expect(other.deduplicationId).not.toBe(eventOf(fact).deduplicationId);
  });

  test("leaves out what is not known", () => {
    const { metadata } = eventOf(fact).detail;

    expect(metadata).not.toHaveProperty("account");
    expect(metadata).not.toHaveProperty("commandId");
    expect(metadataSchema.safeParse(metadata).success).toBe(true);
  });
});

describe("the catalogue", () => {
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

describe("an event that the catalogue does not know", () => {
  const vanished = { ...fact, detailType: "AiTaskVanished" } as const;
  const missingSince = "2026-01-01T00:00:00.000Z";
  eventOf({ ...vanished, data: { taskId: "t1", missingSince } });

  test("does not compile without a field, with another type, or with an unknown word", () => {
    const ended = { ...fact, detailType: "AiTaskEnded" } as const;
    const data = [
      // @ts-expect-error `missingSince` is missing
      eventOf({ ...vanished, data: { taskId: "t1" } }).detail.data,
      // @ts-expect-error `taskId` is text
      eventOf({ ...vanished, data: { taskId: 1, missingSince } }).detail.data,
      // @ts-expect-error no end is called so
      eventOf({ ...ended, data: { taskId: "t1", status: "PAUSED" } }).detail.data,
    ];

    const schema = z.union([EVENT_DATA.AiTaskVanished, EVENT_DATA.AiTaskEnded]);
    expect(data.filter((each) => schema.safeParse(each).success)).toEqual([]);
  });

  test("does not compile with a field too many, although readers let it pass", () => {
    const more = { missingSince, weather: "fine" };
    const data = [
      // @ts-expect-error `weather` is written out
      eventOf({ ...vanished, data: { taskId: "t1", missingSince, weather: "fine" } }).detail.data,
      // @ts-expect-error `weather` comes out of a spread
      eventOf({ ...vanished, data: { taskId: "t1", ...more } }).detail.data,
    ];

    expect(data).toEqual(Array(2).fill({ taskId: "t1", missingSince, weather: "fine" }));
  });

  test("does not compile with a field too many in an object inside", () => {
    const rejected = { ...fact, detailType: "WatchlistRejected" } as const;
    const source = { name: "s" };
    const data = { bucket: missingSince, source, problemCount: 1, problems: [] };
    const problems = [{ path: "p", rule: "r", weather: "fine" }];
    eventOf({ ...rejected, data });
    // @ts-expect-error `weather` is no field of a problem
    const event = eventOf({ ...rejected, data: { ...data, problems } });

    expect(event.detail.data).toMatchObject({ problems });
  });
});
