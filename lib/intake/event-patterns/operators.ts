import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";

/** A value of an event that is neither an object nor a list. */
export type Leaf = string | number | boolean | null;
export type LeafTest = (leaf: Leaf) => boolean;

export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] =>
  Array.isArray(value);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value);

/** Reports a problem, with its path from the value that is read. */
export type Report = (path: readonly PropertyKey[], rule: string) => undefined;

/** The field of an object that has exactly one. */
export const soleField = (object: JsonObject): readonly [string, JsonValue] | undefined => {
  const [first, second] = Object.entries(object);
  return second === undefined ? first : undefined;
};

/** A test that only texts can pass. */
export const onText =
  (test: TextTest): LeafTest =>
  (leaf) =>
    typeof leaf === "string" && test(leaf);

export type TextTest = (text: string) => boolean;
export type TestFor = (wanted: string) => TextTest;

/**
 * Where `wanted` ends if the text begins with it in any case; -1 if it does not. As in Ruler
 * (EqualsIgnoreCaseParser), each character may stand as its own lower or upper case, which may be
 * longer than itself.
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

/** The same from the end: where `wanted` begins if the text ends with it in any case. */
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
    standInOrder(middle, text.slice(0, text.length - last.length), first.length);
};

/**
 * The user guide promises numeric matching from -5.0e9 to 5.0e9 with 15 digits. Two of its pages
 * differ on equality: by one, 300, 300.0 and 3.0e2 are different texts; Ruler, which EventBridge
 * runs on, compares them as numbers (README, JsonRuleCompiler). Ruler's rule is taken: a parsed
 * event does not know how its numbers were written. Newer releases of Ruler compare whole doubles,
 * as here; older ones stopped at the sixth decimal.
 */
const NUMERIC_LIMIT = 5e9;

export const NUMERIC_RANGE_RULE = "numbers from -5000000000 to 5000000000";
const SHAPE_RULE =
  'one comparison such as ["=", 5], or a lower and an upper bound such as [">", 0, "<=", 5]';

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
  if (bottom >= top) return report([], "a lower bound below the upper one");
  return onNumber((number) => isAbove(number, bottom) && isBelow(number, top));
};

/** An address as a number. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** The addresses that begin with the same `bits - freeBits` bits. */
export interface IpRange {
  readonly bits: 32 | 128;
  readonly freeBits: bigint;
  readonly begin: bigint;
}

const GROUPS = 8;
/** `::ffff:0:0/96`, where version 6 holds the addresses of version 4. */
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

/** Reads `10.0.0.0/8`; undefined if that is not what the text is, or for one address. */
export const readIpRange = (text: string): IpRange | undefined => {
  const [addressText = "", mask = "", more] = text.split("/");
  const address = readIpAddress(addressText);
  if (address === undefined || more !== undefined || !MASK.test(mask)) return undefined;
  // Ruler (CIDR.java) takes masks below 32 and 128 only.
  if (Number(mask) >= address.bits) return undefined;
  const freeBits = BigInt(address.bits - Number(mask));
  return { bits: address.bits, freeBits, begin: address.value >> freeBits };
};

export const isInRange = (address: IpAddress, range: IpRange): boolean =>
  address.bits === range.bits && address.value >> range.freeBits === range.begin;
