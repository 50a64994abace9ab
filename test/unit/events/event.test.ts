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
  test("has the documented envelope and metadata", () => {
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

  test("keeps its id over all releases", () => {
    expect(eventOf(fact).deduplicationId).toBe("78b70375-5619-5501-82b7-4abea236f876");
  });

  test("has the same id for another time, cause, subject and data", () => {
    const data = { ...fact.data, attempts: 2 };
    const again = eventOf({ ...fact, time: 5, causationId: "x", data, subject: "y" });

    expect(again.deduplicationId).toBe(eventOf(fact).deduplicationId);
  });

  const failure = { ...end, reason: "deadline", problems: [] } as const;

  test.each([
    ["another detail type", eventOf({ ...fact, detailType: "CommandFailed", data: failure })],
    ["another identity", eventOf({ ...fact, identity: ["own/c2"] })],
    ["identities that are equal only when joined", eventOf({ ...fact, identity: ["own", "c1"] })],
  ])("has another id for %s", (_what, other) => {
    expect(other.deduplicationId).not.toBe(eventOf(fact).deduplicationId);
  });

  test("leaves out unknown metadata", () => {
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
  ] as const)("refuses %s with the data %j", (detailType, data) => {
    expect(EVENT_DATA[detailType].safeParse(data).success).toBe(false);
  });

  test("accepts unknown fields, so that consumers survive a later version", () => {
    const more = { ...end, outcome: "done", colour: "red" };

    expect(EVENT_DATA.CommandSucceeded.parse(more)).toEqual(more);
  });
});

describe("an event outside the catalogue", () => {
  const vanished = { ...fact, detailType: "AiTaskVanished" } as const;
  const missingSince = "2026-01-01T00:00:00.000Z";
  eventOf({ ...vanished, data: { taskId: "t1", missingSince } });

  test("does not compile without a field, with another type, or with an unknown enum value", () => {
    const ended = { ...fact, detailType: "AiTaskEnded" } as const;
    const data = [
      // @ts-expect-error `missingSince` is missing
      eventOf({ ...vanished, data: { taskId: "t1" } }).detail.data,
      // @ts-expect-error `taskId` is text
      eventOf({ ...vanished, data: { taskId: 1, missingSince } }).detail.data,
      // @ts-expect-error `PAUSED` is not a status of an ended task
      eventOf({ ...ended, data: { taskId: "t1", status: "PAUSED" } }).detail.data,
    ];

    const schema = z.union([EVENT_DATA.AiTaskVanished, EVENT_DATA.AiTaskEnded]);
    expect(data.filter((each) => schema.safeParse(each).success)).toEqual([]);
  });

  test("does not compile with an additional field, although its schema accepts it", () => {
    const more = { missingSince, colour: "red" };
    const data = [
      // @ts-expect-error `colour` is written out
      eventOf({ ...vanished, data: { taskId: "t1", missingSince, colour: "red" } }).detail.data,
      // @ts-expect-error `colour` comes out of a spread
      eventOf({ ...vanished, data: { taskId: "t1", ...more } }).detail.data,
    ];

    expect(data).toEqual(Array(2).fill({ taskId: "t1", missingSince, colour: "red" }));
  });

  test("does not compile with an additional field in a nested object", () => {
    const rejected = { ...fact, detailType: "WatchlistRejected" } as const;
    const source = { name: "s" };
    const data = { bucket: missingSince, source, problemCount: 1, problems: [] };
    const problems = [{ path: "p", rule: "r", colour: "red" }];
    eventOf({ ...rejected, data });
    // @ts-expect-error `colour` is no field of a problem
    const event = eventOf({ ...rejected, data: { ...data, problems } });

    expect(event.detail.data).toMatchObject({ problems });
  });
});
