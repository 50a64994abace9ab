import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";

/** A value of an event that is neither an object nor a list. */
export type Leaf = string | number | boolean | null;
export type LeafTest = (leaf: Leaf) => boolean;

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  Array.isArray(value);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value);

/** Reports a problem with its path, relative to the value being read. */
export type Report = (path: readonly PropertyKey[], rule: string) => undefined;

/** Returns the field of an object with exactly one; undefined otherwise. */
export const soleField = (object: JsonObject): readonly [string, JsonValue] | undefined => {
  const [first, second] = Object.entries(object);
  return second === undefined ? first : undefined;
};

/** Applies a test to strings; any other value fails. */
export const onText =
  (test: TextTest): LeafTest =>
  (leaf) =>
    typeof leaf === "string" && test(leaf);

export type TextTest = (text: string) => boolean;
export type TestFor = (wanted: string) => TextTest;

/**
 * Returns the end of `wanted` if the text begins with it, ignoring case; else -1. As in Ruler
 * (EqualsIgnoreCaseParser), each character may be replaced by its lower or upper case, which may be
 * longer than the character.
 */
const endOfAnyCase = (text: string, wanted: string): number => {
  let at = 0;
  for (const character of wanted.split("")) {
    const forms = [character.toLowerCase(), character.toUpperCase()];
    const found = forms.find((form) => text.startsWith(form, at));
    if (found === undefined) return -1;
    at += found.length;
  }
  return at;
};

/** Returns the start of `wanted` if the text ends with it, ignoring case; else -1. */
const beginOfAnyCase = (text: string, wanted: string): number => {
  let at = text.length;
  for (const character of wanted.split("").reverse()) {
    const forms = [character.toLowerCase(), character.toUpperCase()];
    const found = forms.find((form) => text.endsWith(form, at));
    if (found === undefined) return -1;
    at -= found.length;
  }
  return at;
};

export const beginsWith: TestFor = (wanted) => (text) => text.startsWith(wanted);
export const endsWith: TestFor = (wanted) => (text) => text.endsWith(wanted);
export const beginsWithAnyCase: TestFor = (wanted) => (text) => endOfAnyCase(text, wanted) >= 0;
export const endsWithAnyCase: TestFor = (wanted) => (text) => beginOfAnyCase(text, wanted) >= 0;
export const equalsAnyCase: TestFor = (wanted) => (text) =>
  endOfAnyCase(text, wanted) === text.length;

const ESCAPE_RULE = "must not have a backslash except before * or another backslash";
const REPEAT_RULE = "must not have two * in a row";

/** Returns the strings between the asterisks, or the broken rule. */
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

/** Whether the pieces occur in order. The leftmost match of each is enough: backtracking finds no more. */
const occurInOrder = (pieces: readonly string[], text: string, from: number): boolean => {
  let at = from;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return true;
};

/** Reads a wildcard: `*` matches any characters, also none; `\*` and `\\` match themselves. */
export const readWildcard = (source: string, report: Report): TextTest | undefined => {
  const pieces = piecesOf(source);
  if (typeof pieces === "string") return report([], pieces);
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return (text) => text === first;
  const last = pieces.at(-1) ?? "";
  const middle = pieces.slice(1, -1);
  return (text) =>
    text.length >= first.length + last.length &&
    text.startsWith(first) &&
    text.endsWith(last) &&
    occurInOrder(middle, text.slice(0, text.length - last.length), first.length);
};

/**
 * The user guide promises numeric matching from -5.0e9 to 5.0e9 with 15 digits. Its pages disagree on
 * equality: by one of them 300, 300.0 and 3.0e2 are different strings; Ruler, on which EventBridge runs,
 * compares them as numbers (its README, JsonRuleCompiler). This code follows Ruler, because a parsed event
 * does not keep how its numbers were written. Newer releases of Ruler compare whole doubles, as here;
 * older ones compared six decimals.
 */
const NUMERIC_LIMIT = 5e9;

export const NUMERIC_RANGE_RULE = "numbers must be from -5000000000 to 5000000000";
const SHAPE_RULE =
  'must be one comparison such as ["=", 5], or a lower and an upper bound such as [">", 0, "<=", 5]';

type Compare = (number: number, bound: number) => boolean;

const LOWER: ReadonlyMap<JsonValue, Compare> = new Map<JsonValue, Compare>([
  [">", (number, bound) => number > bound],
  [">=", (number, bound) => number >= bound],
]);
const UPPER: ReadonlyMap<JsonValue, Compare> = new Map<JsonValue, Compare>([
  ["<", (number, bound) => number < bound],
  ["<=", (number, bound) => number <= bound],
]);
const SINGLE: ReadonlyMap<JsonValue, Compare> = new Map([
  ["=", (number: number, bound: number) => number === bound],
  ...LOWER,
  ...UPPER,
]);

export const isInNumericRange = (number: number): boolean => Math.abs(number) <= NUMERIC_LIMIT;

const onNumber =
  (test: (number: number) => boolean): LeafTest =>
  (leaf) =>
    typeof leaf === "number" && test(leaf);

const readSingle = (operator: JsonValue, bound: number, report: Report): LeafTest | undefined => {
  const compare = SINGLE.get(operator);
  return compare ? onNumber((number) => compare(number, bound)) : report([], SHAPE_RULE);
};

/** Reads `numeric`: one comparison, or a lower bound and then an upper one. */
export const readNumericTest = (operand: JsonValue, report: Report): LeafTest | undefined => {
  const [first, bottom, second, top, ...more] = isList(operand) ? operand : [];
  if (first === undefined || typeof bottom !== "number" || more.length > 0) {
    return report([], SHAPE_RULE);
  }
  if (!isInNumericRange(bottom)) return report([], NUMERIC_RANGE_RULE);
  if (second === undefined) return readSingle(first, bottom, report);
  const isAbove = LOWER.get(first);
  const isBelow = UPPER.get(second);
  if (!isAbove || !isBelow || typeof top !== "number") return report([], SHAPE_RULE);
  if (!isInNumericRange(top)) return report([], NUMERIC_RANGE_RULE);
  if (bottom >= top) return report([], "must have a lower bound below the upper bound");
  return onNumber((number) => isAbove(number, bottom) && isBelow(number, top));
};

/** An IP address as a number. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** A range of addresses with the same first `bits - freeBits` bits. */
export interface IpRange {
  readonly bits: 32 | 128;
  readonly freeBits: bigint;
  readonly begin: bigint;
}

const GROUPS = 8;
/** `::ffff:0:0/96`, the IPv4 addresses inside IPv6. */
const MAPPED = 0xffffn;
const MASK = /^\d{1,3}$/;

const readVersion4 = (text: string): IpAddress | undefined => {
  const parts = text.split(".");
  const isRight = parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && +part < 256);
  if (!isRight) return undefined;
  return { bits: 32, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) };
};

const groupsOf = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));

const readVersion6 = (text: string): IpAddress | undefined => {
  const [head = "", tail, more] = text.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const missing = GROUPS - left.length - right.length;
  const isRightLength = tail === undefined ? missing === 0 : missing > 0;
  if (more !== undefined || !isRightLength) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  const value = groups.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
  return value >> 32n === MAPPED ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
};

/** Reads `10.0.0.1` or `2001:db8::1`; undefined for any other text. */
export const readIpAddress = (text: string): IpAddress | undefined =>
  text.includes(":") ? readVersion6(text) : readVersion4(text);

/** Reads a CIDR block such as `10.0.0.0/8`; undefined for any other text, or a block of one address. */
export const readIpRange = (text: string): IpRange | undefined => {
  const [addressText = "", mask = "", more] = text.split("/");
  const address = readIpAddress(addressText);
  if (address === undefined || more !== undefined || !MASK.test(mask)) return undefined;
  // Ruler (CIDR.java) accepts masks below 32 and 128 only.
  if (Number(mask) >= address.bits) return undefined;
  const freeBits = BigInt(address.bits - Number(mask));
  return { bits: address.bits, freeBits, begin: address.value >> freeBits };
};

export const isInRange = (address: IpAddress, range: IpRange): boolean =>
  address.bits === range.bits && address.value >> range.freeBits === range.begin;
