import { describe, expect, test } from "vitest";
import { openLiveScreen } from "../../../lib/cli/live-screen.ts";

const screenOf = (columns: number, rows: number) => {
  const written: string[] = [];
  return { written, columns, rows, write: (text: string) => written.push(text) };
};

describe("a live screen", () => {
  test("draws in place by one write, and never clears the whole screen", () => {
    const screen = screenOf(20, 5);
    const live = openLiveScreen(screen);

    live.draw(["one", "two"]);

    expect(screen.written).toHaveLength(2);
    expect(screen.written[1]).toBe("\u001b[Hone\u001b[K\r\ntwo\u001b[K\u001b[J");
    expect(screen.written.join("")).not.toContain("\u001b[2J");
  });

  test("leaves out what does not fit the terminal, by the width of its characters", () => {
    const screen = screenOf(4, 2);
    const live = openLiveScreen(screen);

    live.draw(["abcdef", "\u{1f600}\u{1f600}\u{1f600}", "third"]);

    expect(screen.written[1]).toBe("\u001b[Habcd\u001b[K\r\n\u{1f600}\u{1f600}\u001b[K\u001b[J");
  });

  test("gives the terminal back once, and draws nothing after that", () => {
    const screen = screenOf(20, 5);
    const live = openLiveScreen(screen);

    live.leave();
    live.draw(["late"]);
    live.leave();

    expect(screen.written).toEqual(["\u001b[?1049h\u001b[?25l", "\u001b[?25h\u001b[?1049l"]);
  });
});
