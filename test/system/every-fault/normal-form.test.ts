import { describe, expect, test } from "vitest";
import { blanked, createIdNames } from "./normal-form.ts";

const KNOWN = "6c6aa80f-7836-4dc2-a2ae-125e248be476";
const FIRST = "019b76da-a801-702f-8f15-fa169e5e2c0f";
const SECOND = "019b76da-a804-7bad-859e-27ec3b63d842";

describe("the normal form", () => {
  test("replaces instants, durations and runners by their kind", () => {
    const record = {
      endedAt: 1_767_225_600_000,
      created_on: "2026-01-01T00:00:00",
      durationMs: 3_500,
      lease: { by: "runner-3", until: 1_767_225_645_000 },
    };

    expect(JSON.parse(blanked(record))).toEqual({
      endedAt: "<an instant>",
      created_on: "<an instant>",
      durationMs: "<a duration>",
      lease: { by: "<a runner>", until: "<an instant>" },
    });
  });

  test("keeps every other value, also under the name of an instant", () => {
    const record = { finished_on: null, deadline: "passed", attempts: 2, status: "ended" };

    expect(JSON.parse(blanked(record))).toEqual(record);
  });

  test("names generated ids in their order of appearance", () => {
    const ids = createIdNames(new Set([KNOWN]));

    const text = ids.named(`${SECOND} of ${KNOWN}, then ${FIRST}, ${SECOND} again`);

    expect(text).toBe(`<id 1> of ${KNOWN}, then <id 2>, <id 1> again`);
    expect(ids.namedIfKnown(`${FIRST} ${SECOND.replace("019b", "119b")}`)).toBe("<id 2> <an id>");
  });
});
