import { parse, stringify } from "lossless-json";

const isWholeNumber = /^-?\d+$/;

/** An integer outside the safe range becomes a bigint; everything else is what JSON.parse gives. */
const parseNumber = (digits: string): number | bigint => {
  const value = Number(digits);
  return isWholeNumber.test(digits) && !Number.isSafeInteger(value) ? BigInt(digits) : value;
};

/**
 * Reads the interface's JSON without losing unsigned 64-bit integers.
 * @throws SyntaxError or RangeError (nesting too deep) when the text is not readable JSON
 */
export const parseWireJson = (text: string): unknown => parse(text, undefined, parseNumber);

/** Writes the interface's JSON; a bigint becomes a plain JSON number. */
export const formatWireJson = (value: unknown, spaces?: number): string => {
  try {
    // Ten times as fast, and right for all that holds no bigint, on which alone it throws.
    return JSON.stringify(value, undefined, spaces) ?? "null";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringify(value, undefined, spaces) ?? "null";
  }
};
