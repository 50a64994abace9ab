import wrapAnsi from "wrap-ansi";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const TO_TOP = "\u001b[H";
const CLEAR_LINE_END = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/** The terminal, or a double of it. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

/** The beginning of a line that fits a terminal of this width. */
const clipped = (line: string, columns: number): string =>
  wrapAnsi(line, columns, { hard: true, trim: false, wordWrap: false }).split("\n")[0] ?? "";

export interface LiveScreen {
  /** Replaces what the screen shows. Lines that do not fit are left out. */
  draw(lines: readonly string[]): void;
  /** Shows again what the terminal showed before. Safe to repeat. */
  leave(): void;
}

/**
 * Takes over the whole terminal until `leave`. A draw overwrites the lines in place by one write, without clearing
 * the screen first, so that nothing flickers.
 */
export const openLiveScreen = (screen: Screen): LiveScreen => {
  let isOpen = true;
  screen.write(ENTER);
  return {
    draw(lines) {
      if (!isOpen) return;
      const fitting = lines.slice(0, screen.rows);
      const shown = fitting.map((line) => `${clipped(line, screen.columns)}${CLEAR_LINE_END}`);
      screen.write(`${TO_TOP}${shown.join("\r\n")}${CLEAR_BELOW}`);
    },
    leave() {
      if (isOpen) screen.write(LEAVE);
      isOpen = false;
    },
  };
};
