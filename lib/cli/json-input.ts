import { parse } from "lossless-json";
import { EXIT, ExitError } from "./exit-code.ts";

/**
 * Line and column of the first mistake, both from 1; undefined for valid JSON. Positions come from lossless-json,
 * because the messages of JSON.parse have none for some mistakes, and quote the text, which may be secret.
 */
const mistakeIn = (text: string): { line: number; column: number } | undefined => {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    const [, position] = /position (\d+)/.exec(String(error)) ?? [];
    const before = text.slice(0, position === undefined ? text.length : Number(position));
    const lines = before.split("\n");
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  }
};

/**
 * The value of a JSON text that a user wrote.
 * @param name the file, or the option, for the error
 * @param hint what to write instead
 * @throws ExitError with the place of the first mistake
 */
export const readJsonText = (text: string, name: string, hint = ""): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column } = mistakeIn(text) ?? { line: 1, column: 1 };
    const what = text.trim() === "" ? "empty, not JSON" : "not valid JSON";
    throw new ExitError(EXIT.refused, `${name}: ${what} at line ${line}, column ${column}${hint}`);
  }
};
