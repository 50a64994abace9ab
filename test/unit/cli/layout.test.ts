import { describe, expect, it } from "vitest";
import { layOutTable } from "../../../lib/cli/layout.ts";

const HEADS = ["accepted", "status", "id"];
const UUID = "01a1fc44-8176-75c7-8616-b92ef599574a";
const TIME = "2026-01-31T12:00:00Z";

describe("a table", () => {
  it("has a line for each row where all rows fit, and without a terminal", () => {
    const rows = [[TIME, "succeeded", "c1"]];
    const lines = ["accepted              status     id", "2026-01-31T12:00:00Z  succeeded  c1"];

    expect(layOutTable(HEADS, rows, 80)).toEqual(lines);
    expect(layOutTable(HEADS, rows, undefined)).toEqual(lines);
  });

  it("is never folded without a terminal", () => {
    const [, row] = layOutTable(HEADS, [[TIME, "x ".repeat(99).trim(), UUID]], undefined);

    expect(row).toBe(`${TIME}  ${"x ".repeat(99).trim()}  ${UUID}`);
  });

  it("moves only an id that does not fit below its row", () => {
    const rows = [
      [TIME, "failed (unknown-outcome)", "c1"],
      [TIME, "succeeded", UUID],
    ];

    expect(layOutTable(HEADS, rows, 80)).toEqual([
      "accepted              status                    id",
      "2026-01-31T12:00:00Z  failed (unknown-outcome)  c1",
      `2026-01-31T12:00:00Z  succeeded\n  ${UUID}`,
    ]);
  });

  it("continues several columns below, in the heads likewise", () => {
    const heads = ["name", "amount", "first", "second"];
    const rows = [["web", "0.08333333333333333", TIME, TIME]];

    expect(layOutTable(heads, rows, 50)).toEqual([
      "name  amount               first\n  second",
      `web   0.08333333333333333  ${TIME}\n  ${TIME}`,
    ]);
  });

  it("wraps the text of the last column under its head", () => {
    const heads = ["attempt", "result"];
    const rows = [["1", "transient: the provider is being maintained"]];

    expect(layOutTable(heads, rows, 40)).toEqual([
      "attempt  result",
      "1        transient: the provider is\n         being maintained",
    ]);
  });

  it("gives one long name a line of its own, and leaves the columns of the others", () => {
    const name = "a-cluster-of-the-platform-team-in-luxembourg";
    const rows = [
      ["web", "instance", "48.2"],
      [name, "k8s", "159.6"],
    ];

    expect(layOutTable(["name", "kind", "month"], rows, 50)).toEqual([
      "name  kind      month",
      "web   instance  48.2",
      `${name}\n      k8s       159.6`,
    ]);
  });

  it("counts columns and not characters", () => {
    expect(layOutTable(["name", "kind"], [["漢字漢字", "a"]], 80)).toEqual([
      "name      kind",
      "漢字漢字  a",
    ]);
  });
});
