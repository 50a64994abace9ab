import { describe, expect, expectTypeOf, it } from "vitest";
import { DETAIL_TYPES } from "../../../lib/events/envelope.ts";
import { exampleOf } from "../../../lib/events/examples.ts";
import { EventError, parseEvent, type SkyhookEvent } from "../../../lib/exports/events.ts";

const failed = exampleOf("CommandFailed");

const errorOf = (event: unknown, source?: string): EventError => {
  try {
    parseEvent(event, source === undefined ? {} : { source });
  } catch (error) {
    if (error instanceof EventError) return error;
    throw error;
  }
  throw new Error("the event was accepted");
};

describe("parseEvent", () => {
  it.each(DETAIL_TYPES)("returns an event %s unchanged", (type) => {
    const event = exampleOf(type);

    expect(parseEvent(event)).toEqual(event);
  });

  it("returns a type that narrows by detail-type", () => {
    const event = parseEvent(failed);

    if (event["detail-type"] !== "CommandFailed") throw new Error("another type");
    expectTypeOf(event).toEqualTypeOf<SkyhookEvent<"CommandFailed">>();
    expectTypeOf(event.detail.data.reason).toEqualTypeOf<
      "deadline" | "refused" | "task-failed" | "task-unknown" | "unknown-outcome"
    >();
    expectTypeOf(event.detail.metadata.commandId).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: a field of no event
    expect(event.detail.data.reasons).toBeUndefined();
    expect(event.detail.data.reason).toBe("unknown-outcome");
  });

  it("keeps unknown fields on every level", () => {
    const { detail } = failed;
    const event = {
      ...failed,
      "replay-name": "again",
      detail: {
        ...detail,
        metadata: { ...Object(detail.metadata), shard: 1 },
        data: { ...Object(detail.data), cost: { euro: "1.20" } },
      },
    };

    expect(parseEvent(event)).toEqual(event);
  });

  it.each([
    ["no event", "CommandFailed", ""],
    ["only a detail", failed.detail, "source"],
    ["another source", { ...failed, source: "billing" }, "source"],
    ["another type", { ...failed, "detail-type": "InvoicePaid" }, "detail-type"],
    ["the name of an inherited field", { ...failed, "detail-type": "toString" }, "detail-type"],
  ])("refuses %s as foreign", (_what, event, path) => {
    const { kind, problems } = errorOf(event);

    expect(kind).toBe("foreign");
    expect(problems[0]?.path).toBe(path);
  });

  it("accepts the source of a stage with another eventSource, and only that", () => {
    const event = { ...failed, source: "skyhook-dev" };

    expect(parseEvent(event, { source: "skyhook-dev" })).toEqual(event);
    expect(errorOf(failed, "skyhook-dev").problems).toEqual([
      { path: "source", rule: "must be skyhook-dev" },
    ]);
  });

  it("names every wrong field and its rule, without values", () => {
    const event = {
      ...failed,
      detail: {
        metadata: { ...Object(failed.detail.metadata), version: 2 },
        data: { ...Object(failed.detail.data), reason: "s3cret", attempts: -1, lane: undefined },
      },
    };

    const error = errorOf(event);

    expect(error.kind).toBe("invalid");
    expect(error.problems).toEqual([
      { path: "detail.metadata.version", rule: "must be 1" },
      { path: "detail.data.lane", rule: "required" },
      { path: "detail.data.attempts", rule: "at least 0" },
      {
        path: "detail.data.reason",
        rule: "one of deadline, refused, task-failed, task-unknown, unknown-outcome",
      },
    ]);
    expect(error.message).toBe(
      "invalid event: detail.metadata.version: must be 1; detail.data.lane: required; detail.data.attempts: at least 0; detail.data.reason: one of deadline, refused, task-failed, task-unknown, unknown-outcome",
    );
  });
});
