import wrapAnsi from "wrap-ansi";
import { textWidth } from "./text-width.ts";

/*
 * Fits texts into the columns of a terminal. Nothing is cut, because users copy ids, paths and commands: text
 * continues on the next line, and a word that is wider than the terminal stays whole.
 */

/** Width of the terminal; undefined for a file or a pipe, where a program reads the lines. */
export type Columns = number | undefined;

/** JSON and YAML, where a line break can change the meaning. */
const DATA = /^\s*[[{#]/;
/** Lines to copy into a shell. */
const SHELL = /^\s*(npx |export )/;
/** A word of a shell, with its quoted parts. */
const SHELL_WORD = /(?:'[^']*'|\\.|[^\s'])+/g;

/** From Node 22 on, `import` of `node:util` reads each export, and some load libraries: 3 ms of CPU time. */
const withoutStyles = (line: string): string =>
  process.getBuiltinModule("node:util").stripVTControlCharacters(line);

/** Indent of continuation lines: the last column of the line, or two columns more than its start. */
const hangOf = (line: string, columns: number): number => {
  const plain = withoutStyles(line);
  const start = plain.search(/\S/);
  const gaps = [...plain.matchAll(/(?<=\S) {2,}(?=\S)/g)];
  const [gap] = gaps.slice(-1);
  const hang = gap === undefined ? 0 : textWidth(plain.slice(0, gap.index)) + gap[0].length;
  return hang > start && hang <= columns / 2 ? hang : start + 2;
};

/** Parts a command between its words, so that a shell runs the copied lines as one. */
const wrapShell = (line: string, columns: number): string => {
  const start = line.search(/npx |export /);
  const indent = " ".repeat(textWidth(line.slice(0, start)) + 4);
  const [command = "", ...words] = line.slice(start).match(SHELL_WORD) ?? [];
  const lines: string[] = [];
  let current = line.slice(0, start) + command;
  for (const word of words) {
    const longer = `${current} ${word}`;
    if (textWidth(longer) > columns - " \\".length && textWidth(word) < columns) {
      lines.push(`${current} \\`);
      current = indent + word;
    } else current = longer;
  }
  return [...lines, current].join("\n");
};

const wrapLine = (line: string, columns: number): string => {
  if (textWidth(line) <= columns) return line;
  if (SHELL.test(withoutStyles(line))) return wrapShell(line, columns);
  const hang = hangOf(line, columns);
  // Continuation lines are wrapped to the width that remains beside their indent.
  const [first = "", ...rest] = wrapAnsi(line, columns, { trim: false }).split("\n");
  if (rest.length === 0) return line;
  const behind = wrapAnsi(rest.join("").trimStart(), columns - hang).split("\n");
  const isBlank = withoutStyles(first).trim() === "";
  const lines = behind.map((each) => " ".repeat(hang) + each);
  // Nothing fits behind the indent of a line that begins with a wide word.
  if (isBlank) lines[0] = first + behind[0];
  return (isBlank ? lines : [first.trimEnd(), ...lines]).join("\n");
};

/** Wraps the lines of a text between words, except data; a shell command stays one command. */
export const wrapText = (text: string, columns: Columns): string =>
  columns === undefined || DATA.test(text)
    ? text
    : text
        .split("\n")
        .map((line) => wrapLine(line, columns))
        .join("\n");

export type Row = readonly string[];

const GAP = 2;
/** Indent of a row's second and further lines. */
const INDENT = 2;
/** Columns in which text is still readable beside other columns. */
const MIN_TEXT = 24;
/** Share of the terminal that one column may take from the others. */
const MAX_SHARE = 0.45;

/** Aligns columns one behind the other, and continues on a further line where they do not fit. */
const startsOf = (widths: readonly number[], columns: number): readonly number[] => {
  let next = 0;
  return widths.map((width) => {
    const start = next > INDENT && next + width > columns ? INDENT : next;
    next = start + width + GAP;
    return start;
  });
};

/** Whether a cell can be read in a narrow column: as it is, or wrapped between its words. */
const fitsIn = (cell: string, columns: number): boolean =>
  textWidth(cell) <= columns ||
  (columns >= MIN_TEXT && cell.split(" ").every((word) => textWidth(word) <= MIN_TEXT));

/** The lines of one row. A cell that does not fit beside the others gets a line of its own. */
const rowLines = (
  row: Row,
  widths: readonly number[],
  starts: readonly number[],
  columns: number,
): readonly string[] => {
  const last = row.findLastIndex((cell) => cell !== "");
  const startOf = (cell: string, column: number): number => {
    const [start = 0, before = 0] = [starts[column], column - 1];
    const behind = column === 0 ? 0 : (starts[before] ?? 0) + (widths[before] ?? 0) + GAP;
    if (column === last && fitsIn(cell, columns - behind)) return behind;
    return start + textWidth(cell) > columns ? Math.min(start, INDENT) : start;
  };
  const lines: string[] = [];
  let line = "";
  const add = (cell: string, start: number): void => {
    if (line !== "" && textWidth(line) + GAP > start) {
      lines.push(line);
      line = "";
    }
    const isWide = start + textWidth(cell) > columns;
    const [first = "", ...more] = isWide ? wrapAnsi(cell, columns - start).split("\n") : [cell];
    line += " ".repeat(start - textWidth(line)) + first;
    for (const each of more) {
      lines.push(line);
      line = " ".repeat(start) + each;
    }
  };
  for (const [column, cell] of row.entries()) if (cell !== "") add(cell, startOf(cell, column));
  return [...lines, line];
};

/**
 * The heads and rows of a table, each a text without trailing spaces. A column is as wide as its widest cell. Where a row does not fit the
 * terminal, its further columns continue below it, in the heads likewise.
 */
export const layOutTable = (
  heads: Row,
  rows: readonly Row[],
  columns: Columns,
): readonly string[] => {
  const all = [heads, ...rows];
  const widthsOf = (column: number) => all.map((row) => textWidth(row[column] ?? ""));
  const laidOut = (widths: readonly number[], within: number): readonly string[] => {
    const starts = startsOf(widths, within);
    return all.map((row) => rowLines(row, widths, starts, within).join("\n"));
  };
  const lines = laidOut(
    heads.map((_, column) => Math.max(...widthsOf(column))),
    Number.POSITIVE_INFINITY,
  );
  if (columns === undefined || lines.every((line) => textWidth(line) <= columns)) {
    return lines;
  }
  // One long name must not move the columns of all rows: it gets a line of its own.
  const limit = columns * MAX_SHARE;
  const widths = heads.map((_, column) =>
    Math.max(...widthsOf(column).filter((width, at) => at === 0 || width <= limit)),
  );
  return laidOut(widths, columns);
};
