import stringWidth from "string-width";
import { visibleText } from "./visible-text.ts";

export type Row = readonly string[];

/** Cells are texts of anybody's. Columns as wide as their widest cell; none is padded at the end of a line. */
export const tableText = (heads: Row, rows: readonly Row[]): string => {
  const all = [heads, ...rows.map((row) => row.map(visibleText))];
  const widths = heads.map((_, column) =>
    Math.max(...all.map((row) => stringWidth(row[column] ?? ""))),
  );
  const lineOf = (row: Row): string =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - stringWidth(cell)))
      .join("  ")
      .trimEnd();
  return all.map(lineOf).join("\n");
};
