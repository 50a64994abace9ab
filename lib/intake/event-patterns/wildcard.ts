import type { TextTest } from "./text-tests.ts";

export type WildcardReading =
  | { readonly kind: "valid"; readonly test: TextTest }
  | { readonly kind: "invalid"; readonly rule: string };

const ESCAPE_RULE = "a backslash stands before * or another backslash only";
const REPEAT_RULE = "no * next to another";

/** The texts between the asterisks, or the rule that is broken. */
const piecesOf = (source: string): readonly string[] | string => {
  const pieces: string[] = [];
  let piece = "";
  for (let at = 0; at < source.length; at += 1) {
    const character = source.charAt(at);
    const next = source.charAt(at + 1);
    if (character === "*") {
      if (next === "*") return REPEAT_RULE;
      pieces.push(piece);
      piece = "";
    } else if (character === "\\") {
      if (next !== "*" && next !== "\\") return ESCAPE_RULE;
      piece += next;
      at += 1;
    } else piece += character;
  }
  return [...pieces, piece];
};

/** The leftmost place for each piece is the best one, so there is nothing to go back for. */
const standInOrder = (pieces: readonly string[], text: string, from: number): boolean => {
  let at = from;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return true;
};

/** Reads a text in which `*` stands for any characters, also none; `\*` and `\\` for themselves. */
export const readWildcard = (source: string): WildcardReading => {
  const pieces = piecesOf(source);
  if (typeof pieces === "string") return { kind: "invalid", rule: pieces };
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return { kind: "valid", test: (text) => text === first };
  const last = pieces.at(-1) ?? "";
  const middle = pieces.slice(1, -1);
  return {
    kind: "valid",
    test: (text) =>
      text.length >= first.length + last.length &&
      text.startsWith(first) &&
      text.endsWith(last) &&
      standInOrder(middle, text.slice(0, text.length - last.length), first.length),
  };
};
