import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { vi } from "vitest";

/** The widths at which every output must fit. */
export const WIDTHS = [80, 120];

export interface Terminal {
  readonly columns: number;
  /** What a verb printed, both streams in the order of arrival, without colours. */
  text(): string;
  /** Gives the streams back to the process. */
  close(): void;
}

/** Makes the streams of this process a terminal. */
export const openTerminal = (columns: number): Terminal => {
  let text = "";
  const streams = [process.stdout, process.stderr].map((stream) => {
    const { isTTY, columns: realColumns } = stream;
    const write = vi.spyOn(stream, "write").mockImplementation((chunk) => {
      text += chunk;
      return true;
    });
    Object.assign(stream, { isTTY: true, columns });
    return () => {
      write.mockRestore();
      Object.assign(stream, { isTTY, columns: realColumns });
    };
  });
  return {
    columns,
    // A return overwrites its line, as the progress of `send --wait` does.
    text: () => stripVTControlCharacters(text).replaceAll(/[^\n]*\r/g, ""),
    close: () => {
      for (const restore of streams) restore();
    },
  };
};

/** Lines that are wider than the terminal, except a single word and JSON, which a user copies. */
export const tooWide = ({ columns, text }: Terminal): readonly string[] =>
  text()
    .split("\n")
    .filter((line) => stringWidth(line) > columns && /\S\s+\S/.test(line) && !/^[[{]/.test(line));
