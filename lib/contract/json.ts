import { parse, stringify } from "lossless-json";

/** Ten times the nesting of any reply or body of the contract. Far deeper JSON would overflow the stack. */
const MAX_LEVELS = 200;

/** Reports whether a value is nested deeper than `levels`. Never descends further than that. */
export const isDeeperThan = (value: unknown, levels: number): boolean =>
  value !== null &&
  typeof value === "object" &&
  (levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1)));

const notTooDeep = (value: unknown): unknown => {
  if (isDeeperThan(value, MAX_LEVELS)) throw new RangeError(`deeper than ${MAX_LEVELS} levels`);
  return value;
};

/** No count or price has more digits. A limit is needed: converting a million digits takes seconds. */
const MAX_KEPT_DIGITS = 100;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * The integer that a JSON number such as `1e3` or `1.0` stands for; undefined for a fraction or a number of
 * more than 100 digits. Checks the exponent before expanding it, so that `1e999999999` costs nothing.
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

/** Parses a number as JSON.parse does, but an integer outside the safe range as a bigint. */
const parseNumber = (text: string): number | bigint => {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  return integerOf(text) ?? value;
};

/** As `parseNumber`, but a fraction that rounds to an integer becomes NaN, which every schema rejects. */
const parseExactNumber = (text: string): number | bigint => {
  const value = parseNumber(text);
  return Number.isSafeInteger(value) && integerOf(text) === undefined ? Number.NaN : value;
};

/**
 * Text that `JSON.parse` may read differently: a backslash, which can hide a name, the name `__proto__`, and a number with
 * a fraction, an exponent or 16 digits.
 */
const NEEDS_CARE = /\\|__proto__|(?:^|[[,]|"\s*:)\s*-?\d(?:\d{15}|\d*[.eE])/;

/** The number of names in all objects of a value. @throws RangeError for more than `levels` levels */
const countNames = (value: unknown, levels: number): number => {
  if (value === null || typeof value !== "object") return 0;
  if (levels === 0) throw new RangeError(`deeper than ${MAX_LEVELS} levels`);
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const part of Object.values(value)) count += countNames(part, levels - 1);
  return count;
};

/**
 * Reads a text by `JSON.parse`, which takes a tenth of the time of the exact parser. Returns undefined for a text that
 * the two may read differently, and for invalid JSON.
 */
const parsePlain = (text: string): unknown => {
  if (NEEDS_CARE.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Without backslashes a quote before a colon ends a name. A name that occurs twice is lost in the value.
    return countNames(value, MAX_LEVELS) === (text.match(/"\s*:/g)?.length ?? 0)
      ? value
      : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Parses JSON of the interface without rounding 64-bit integers.
 * @throws SyntaxError for invalid JSON, RangeError for more than 200 levels
 */
export const parseWireJson = (text: string): unknown =>
  parsePlain(text) ?? notTooDeep(parse(text, undefined, parseNumber));

/** As `parseWireJson`, for requests, which contain only integers: none is rounded to another integer. */
export const parseRequestJson = (text: string): unknown =>
  parsePlain(text) ?? notTooDeep(parse(text, undefined, parseExactNumber));

/**
 * Where a parser of this file found invalid JSON: `: line 2, column 5`. Empty for another error. Never quotes the text,
 * as the message of the error does.
 */
export const placeInJson = (error: unknown, text: string): string => {
  const found = error instanceof SyntaxError ? /\bposition (\d+)$/.exec(error.message) : null;
  if (!found) return "";
  const before = text.slice(0, Number(found[1])).split("\n");
  return `: line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
};

const significantDigits = (digits: string): string =>
  digits
    .replace(/e.*/i, "")
    .replaceAll(/[-.]/g, "")
    .replaceAll(/^0+|0+$/g, "");

/** Keeps a number as text if floating point would round it. Exponent form, which no price uses, may round. */
const parseDecimal = (digits: string): number | string => {
  const value = Number(digits);
  if (digits.length > MAX_KEPT_DIGITS) return value;
  const isKept = significantDigits(digits) === significantDigits(String(value));
  return isKept || /e/i.test(digits) ? value : digits;
};

/** As `parseWireJson`, for replies with prices: a number that floating point would round stays text. */
export const parseMoneyJson = (text: string): unknown =>
  notTooDeep(parse(text, undefined, parseDecimal));

/** Text with the escapes of a JSON string, without the quotes. */
export const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Begins the text that stands for a bigint until the whole value is formatted. */
const BIGINT = "\u0000";
const FORMATTED_BIGINT = /"\\u0000(-?\d+)"/g;

/** Formats a value with bigints; undefined if one of its texts looks like one that stands for a bigint. */
const formatBigints = (value: unknown, spaces?: number): string | undefined => {
  let bigints = 0;
  const toText = (_: string, part: unknown): unknown => {
    if (typeof part !== "bigint") return part;
    bigints += 1;
    return `${BIGINT}${part}`;
  };
  const text = JSON.stringify(value, toText, spaces);
  let found = 0;
  const formatted = text.replace(FORMATTED_BIGINT, (_, digits: string) => {
    found += 1;
    return digits;
  });
  return found === bigints ? formatted : undefined;
};

/** Formats JSON of the interface; a bigint becomes a JSON number. */
export const formatWireJson = (value: unknown, spaces?: number): string => {
  try {
    // JSON.stringify is ten times as fast and throws only for a bigint.
    return JSON.stringify(value, undefined, spaces) ?? "null";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return formatBigints(value, spaces) ?? stringify(value, undefined, spaces) ?? "null";
  }
};

/** Parses JSON; undefined when the text is invalid. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export interface BodyText {
  readonly text: string;
  /** Whether the text is complete. */
  readonly isWhole: boolean;
}

/**
 * Reads the text of a request or reply, up to `maxBytes` of the decompressed body: a small compressed body can
 * expand to any size. Cancels the rest, which closes the connection.
 */
export const readText = async (
  { body }: Pick<Response, "body">,
  maxBytes: number,
): Promise<BodyText> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body ?? []) {
    chunks.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  return { text, isWhole: bytes <= maxBytes };
};
