import { describe, expect, test } from "vitest";
import {
  EventPatternError,
  matchesEvent,
  readEventPattern,
} from "../../../lib/exports/event-patterns.ts";

const event = { source: "billing", "detail-type": "Unpaid", detail: { days: 31, plan: "basic" } };

describe("event patterns of the package", () => {
  test("match as an event bus does", () => {
    expect(
      matchesEvent({ source: ["billing"], detail: { days: [{ numeric: [">", 30] }] } }, event),
    ).toBe(true);
    expect(matchesEvent({ detail: { plan: [{ "anything-but": ["basic"] }] } }, event)).toBe(false);
  });

  test("name the fields on which an event fails", () => {
    const pattern = readEventPattern({ source: ["shop"], detail: { plan: ["pro"], days: [31] } });

    expect(pattern.mismatches(event)).toEqual(["detail.plan", "source"]);
    expect(readEventPattern({ source: ["billing"] }).mismatches(event)).toEqual([]);
  });

  test("refuse what EventBridge refuses, with each rule and its place", () => {
    const read = () => readEventPattern({ source: "billing", detail: { days: [{ near: 3 }] } });

    expect(read).toThrow(EventPatternError);
    try {
      read();
    } catch (error) {
      expect(error).toMatchObject({
        problems: [{ path: "source" }, { path: "detail.days.0.near" }],
      });
    }
  });
});
