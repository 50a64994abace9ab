import { describe, expect, it } from "vitest";
import { drawsBlocks, sparkline } from "../../../lib/cli/sparkline.ts";

const steps = (...values: readonly (number | undefined)[]) =>
  values.map((value, at) => ({ at: at * 10, value }));

describe("a sparkline", () => {
  it("shows the lowest value as the lowest block and the highest as the highest", () => {
    expect(sparkline(steps(0, 1, 2, 3, 4, 5, 6, 7), 80, 8)).toBe("▁▂▃▄▅▆▇█");
  });

  it("gives each value its share of the time", () => {
    const price = [
      { at: 0, value: 1 },
      { at: 75, value: 2 },
    ];

    expect(sparkline(price, 100, 8)).toBe("▁▁▁▁▁▁██");
  });

  it("leaves a gap for an unknown value", () => {
    expect(sparkline(steps(1, undefined, 2), 30, 3)).toBe("▁ █");
  });

  it("shows equal values in the middle", () => {
    expect(sparkline(steps(3, 3), 20, 4)).toBe("▄▄▄▄");
  });

  it("is at most 60 columns wide", () => {
    expect(sparkline(steps(1, 2), 20, 500)).toHaveLength(60);
    expect(sparkline(steps(1, 2), 20, 20)).toHaveLength(20);
  });

  it.each([
    ["xterm-256color", true],
    [undefined, true],
    ["dumb", false],
    ["linux", false],
  ])("TERM=%s: %s", (TERM, isDrawn) => {
    expect(drawsBlocks({ TERM })).toBe(isDrawn);
  });
});
