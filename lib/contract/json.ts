import { parse, stringify } from "lossless-json";

/** Ten times what a reply or body of the contract has; far deeper JSON overflows the stack. */
const MAX_LEVELS = 200;

/** Looks at most `levels` deep. */
export const isDeeperThan = (value: unknown, levels: number): boolean =>
  value !== null &&
  typeof value === "object" &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1)));

const notTooDeep = (value: unknown): unknown => {
  if (isDeeperThan(value, MAX_LEVELS)) throw new RangeError(`deeper than ${MAX_LEVELS} levels`);
  return value;
};

/** No count or price has so many, and a million digits take seconds. */
const MAX_KEPT_DIGITS = 100;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * The integer that a number's text states, such as `1e3` or `1.0`; undefined for none. Checks the
 * exponent before expanding it, so that `1e999999999` costs nothing.
 */
const integerOf = (text: string): bigint | undefined => {
  if (text.length > MAX_KEPT_DIGITS) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/0+$/, "");
  if (digits === "") return 0n;
  const zeros = Number(exponent) + whole.length - digits.length;
  const isKept = zeros >= 0 && digits.length + zeros <= MAX_KEPT_DIGITS;
  return isKept ? BigInt(`${sign}${digits}${"0".repeat(zeros)}`) : undefined;
};

/** Reads a number as JSON.parse does, but an integer outside the safe range as a bigint. */
const parseNumber = (text: string): number | bigint => {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return integerOf(text) ?? value;
};

/** As `parseNumber`, but a number that only rounding makes an integer is NaN, which no schema accepts. */
const parseExactNumber = (text: string): number | bigint => {
  const value = parseNumber(text);
  return Number.isSafeInteger(value) && integerOf(text) === undefined ? Number.NaN : value;
};

/**
 * Reads the interface's JSON without losing unsigned 64-bit integers.
 * @throws SyntaxError or RangeError (nesting too deep) when the text is not readable JSON
 */
export const parseWireJson = (text: string): unknown =>
  notTooDeep(parse(text, undefined, parseNumber));

/** As `parseWireJson`, for requests, whose numbers are all integers: none is rounded to another one. */
export const parseRequestJson = (text: string): unknown =>
  notTooDeep(parse(text, undefined, parseExactNumber));

const significantDigits = (digits: string): string =>
  digits
    .replace(/e.*/i, "")
    .replaceAll(/[-.]/g, "")
    .replaceAll(/^0+|0+$/g, "");

/** A number in exponent form, which no price has, is read as JSON.parse does. */
const parseDecimal = (digits: string): number | string => {
  const value = Number(digits);
  if (digits.length > MAX_KEPT_DIGITS) return value;
  const isKept = significantDigits(digits) === significantDigits(String(value));
  return isKept || /e/i.test(digits) ? value : digits;
};

/** As `parseWireJson`, for replies with prices: a number that floating point would round is its text. */
export const parseMoneyJson = (text: string): unknown =>
  notTooDeep(parse(text, undefined, parseDecimal));

/** A text escaped as inside the quotes of a JSON string. */
export const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Writes the interface's JSON; a bigint becomes a plain JSON number. */
export const formatWireJson = (value: unknown, spaces?: number): string => {
  try {
    // Ten times as fast as stringify; it throws on a bigint only.
    return JSON.stringify(value, undefined, spaces) ?? "null";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return stringify(value, undefined, spaces) ?? "null";
  }
};

/** What a JSON text says; undefined when it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
