import { describe, expect, it } from "vitest";
import type { Plain } from "../../../lib/cli/reply-text.ts";
import { replyText } from "../../../lib/cli/reply-text.ts";

const linesOf = (reply: Plain): readonly string[] => replyText(reply).split("\n");

describe("a reply as text", () => {
  it("has a line for each field, in the order of the reply", () => {
    expect(linesOf({ name: "net1", id: 7, external: false, price: 0.25 })).toEqual([
      "name: net1",
      "id: 7",
      "external: false",
      "price: 0.25",
    ]);
  });

  it("distinguishes null, an empty text, and an empty list or object", () => {
    expect(linesOf({ task_id: null, description: "", tags: [], envs: {} })).toEqual([
      "task_id: -",
      'description: ""',
      "tags: none",
      "envs: none",
    ]);
  });

  it("indents nested values at any depth", () => {
    expect(linesOf({ scale: { max: 3, triggers: { cpu: { threshold: 80 } } }, id: 1 })).toEqual([
      "scale:",
      "  max: 3",
      "  triggers:",
      "    cpu:",
      "      threshold: 80",
      "id: 1",
    ]);
  });

  it("shows a list of flat records as a table, after the counts", () => {
    const reply = {
      count: 3,
      next: "page=2",
      results: [
        { id: 1, name: "a", addresses: ["10.0.0.1", "10.0.0.2"] },
        { id: 1234, name: "longer", addresses: [] },
        { id: 5, name: null, extra: true },
      ],
    };

    expect(linesOf(reply)).toEqual([
      "count: 3",
      "next: page=2",
      "results:",
      "  id    name    addresses           extra",
      "  1     a       10.0.0.1, 10.0.0.2",
      "  1234  longer  none",
      "  5     -                           true",
    ]);
  });

  it("shows nested records as a bulleted list", () => {
    const reply = {
      schedules: [
        { id: "a", retention: { weeks: 1 } },
        { id: "b", retention: null },
      ],
    };

    expect(linesOf(reply)).toEqual([
      "schedules:",
      "  - id: a",
      "    retention:",
      "      weeks: 1",
      "  - id: b",
      "    retention: -",
    ]);
  });

  it("shows short lists of values in one line, longer ones in one line each", () => {
    const ids = ["a", "b", "c"].map((letter) => letter.repeat(36));

    expect(linesOf({ ports: [80, 443], ids })).toEqual([
      "ports: 80, 443",
      "ids:",
      ...ids.map((id) => `  - ${id}`),
    ]);
  });

  it("shows lists inside lists", () => {
    expect(linesOf([[{ a: [[1]] }], 2])).toEqual(["- - a:", "      - - 1", "- 2"]);
  });

  it.each([
    ["text", "text"],
    [null, "-"],
    [[], "none"],
  ])("may be any other JSON value: %j", (reply, text) => {
    expect(replyText(reply)).toBe(text);
  });

  it("escapes control characters and line breaks", () => {
    expect(linesOf({ "na\u001bme": "a\nb\u009b2J", list: [{ "ce\tll": "\u0007" }] })).toEqual([
      "na\\u001bme: a\\u000ab\\u009b2J",
      "list:",
      "  ce\\u0009ll",
      "  \\u0007",
    ]);
  });
});
