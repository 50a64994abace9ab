import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import {
  beginsWith,
  beginsWithAnyCase,
  endsWith,
  endsWithAnyCase,
  equalsAnyCase,
  isInNumericRange,
  isInRange,
  isList,
  isObject,
  type LeafTest,
  NUMERIC_RANGE_RULE,
  onText,
  type Report,
  readIpAddress,
  readIpRange,
  readNumericTest,
  readWildcard,
  soleField,
  type TextTest,
} from "./operators.ts";

type ReadExcluded = (text: string, report: Report) => TextTest | undefined;

const LIST_RULE = "a text, a number, or a list of texts only or of numbers only";

const excludedAffix =
  (testFor: (wanted: string) => TextTest): ReadExcluded =>
  (text, report) =>
    // Every text has it, so nothing would ever match (Ruler refuses it too).
    text === "" ? report([], "must not be empty") : testFor(text);

const excludedWildcard: ReadExcluded = (text, report) => {
  const read = readWildcard(text);
  return read.kind === "valid" ? read.test : report([], read.rule);
};

const EXCLUDED: ReadonlyMap<string, ReadExcluded> = new Map<string, ReadExcluded>([
  ["prefix", excludedAffix(beginsWith)],
  ["suffix", excludedAffix(endsWith)],
  ["equals-ignore-case", equalsAnyCase],
  ["wildcard", excludedWildcard],
]);

const EXCLUDED_RULE = `one of ${[...EXCLUDED.keys()].join(", ")}`;

/** Whatever is no text passes too: only what is excluded does not. */
const noneOf =
  (tests: readonly LeafTest[]): LeafTest =>
  (leaf) =>
    !tests.some((test) => test(leaf));

const readExcludedTexts = (
  operand: JsonValue,
  readExcluded: ReadExcluded,
  report: Report,
): LeafTest | undefined => {
  const texts = isList(operand) ? operand : [operand];
  if (texts.length === 0) return report([], "at least one text");
  const tests = texts.map((text, index) => {
    const reportHere: Report = (path, rule) =>
      report(isList(operand) ? [index, ...path] : path, rule);
    return typeof text === "string" ? readExcluded(text, reportHere) : reportHere([], "a text");
  });
  return noneOf(tests.filter((test) => test !== undefined).map(onText));
};

const readExcludedBy = (operand: JsonObject, report: Report): LeafTest | undefined => {
  const sole = soleField(operand);
  if (sole === undefined) return report([], "exactly one operator");
  const readExcluded = EXCLUDED.get(sole.name);
  if (readExcluded === undefined) return report([sole.name], EXCLUDED_RULE);
  return readExcludedTexts(sole.value, readExcluded, (path, rule) =>
    report([sole.name, ...path], rule),
  );
};

/** Reads what `anything-but` excludes. A leaf has to be there; the test is for it alone. */
const readAnythingBut = (operand: JsonValue, report: Report): LeafTest | undefined => {
  if (isObject(operand)) return readExcludedBy(operand, report);
  const values = isList(operand) ? operand : [operand];
  const areNumbers = values.every((value) => typeof value === "number");
  const areTexts = values.every((value) => typeof value === "string");
  if (values.length === 0 || !(areNumbers || areTexts)) return report([], LIST_RULE);
  if (areNumbers && !values.every(isInNumericRange)) return report([], NUMERIC_RANGE_RULE);
  const excluded = new Set<JsonValue>(values);
  return (leaf) => !excluded.has(leaf);
};

/** What a pattern asks of one field: that a leaf passes one of the tests, or that there is none. */
export interface Field {
  readonly tests: readonly LeafTest[];
  readonly mayBeAbsent: boolean;
}

type ReadOperand = (operand: JsonValue, report: Report) => LeafTest | undefined;

const TEXT_RULE = "a text";
const CIDR_RULE = "a block of addresses such as 10.0.0.0/8 or 2001:db8::/32, of more than one";
const VALUE_RULE = "a text, a number, true, false, null or an object with one operator";

const textOperand =
  (testFor: (wanted: string) => TextTest): ReadOperand =>
  (operand, report) =>
    typeof operand === "string" ? onText(testFor(operand)) : report([], TEXT_RULE);

const affixOperand =
  (testFor: (wanted: string) => TextTest, anyCase: (wanted: string) => TextTest): ReadOperand =>
  (operand, report) => {
    if (typeof operand === "string") return onText(testFor(operand));
    const inner = isObject(operand) ? soleField(operand) : undefined;
    if (inner?.name !== "equals-ignore-case") {
      return report([], 'a text, or { "equals-ignore-case": a text }');
    }
    const wanted = inner.value;
    return typeof wanted === "string"
      ? onText(anyCase(wanted))
      : report(["equals-ignore-case"], TEXT_RULE);
  };

const readWildcardTest: ReadOperand = (operand, report) => {
  if (typeof operand !== "string") return report([], TEXT_RULE);
  const read = readWildcard(operand);
  return read.kind === "valid" ? onText(read.test) : report([], read.rule);
};

const readCidrTest: ReadOperand = (operand, report) => {
  const range = typeof operand === "string" ? readIpRange(operand) : undefined;
  if (range === undefined) return report([], CIDR_RULE);
  return onText((text) => {
    const address = readIpAddress(text);
    return address !== undefined && isInRange(address, range);
  });
};

/** `exists: false` is a test that no leaf passes; `readField` sees to the rest. */
const readExistsTest: ReadOperand = (operand, report) => {
  if (typeof operand !== "boolean") return report([], "true or false");
  return operand ? () => true : undefined;
};

const OPERATORS: ReadonlyMap<string, ReadOperand> = new Map([
  ["prefix", affixOperand(beginsWith, beginsWithAnyCase)],
  ["suffix", affixOperand(endsWith, endsWithAnyCase)],
  ["equals-ignore-case", textOperand(equalsAnyCase)],
  ["wildcard", readWildcardTest],
  ["anything-but", readAnythingBut],
  ["numeric", readNumericTest],
  ["cidr", readCidrTest],
  ["exists", readExistsTest],
]);

const OPERATOR_RULE = `one of ${[...OPERATORS.keys()].join(", ")}`;

/** A text that is an address stands for the address, however it is written (Ruler). */
const equalTo = (wanted: string | number | boolean | null): LeafTest => {
  const address = typeof wanted === "string" ? readIpAddress(wanted) : undefined;
  if (address === undefined) return (leaf) => leaf === wanted;
  return onText((text) => {
    const found = readIpAddress(text);
    return found?.bits === address.bits && found.value === address.value;
  });
};

const readTest = (value: JsonValue, report: Report): LeafTest | undefined => {
  if (isList(value)) return report([], VALUE_RULE);
  if (!isObject(value)) return equalTo(value);
  const sole = soleField(value);
  if (sole === undefined) return report([], "exactly one operator");
  const readOperand = OPERATORS.get(sole.name);
  if (readOperand === undefined) return report([sole.name], OPERATOR_RULE);
  return readOperand(sole.value, (path, rule) => report([sole.name, ...path], rule));
};

const allowsAbsence = (value: JsonValue): boolean =>
  isObject(value) && Object.hasOwn(value, "exists") && value.exists === false;

/** Reads the list of values that a pattern gives for a field. */
export const readField = (values: readonly JsonValue[], report: Report): Field => {
  if (values.length === 0) report([], "at least one value");
  const tests = values.map((value, index) =>
    readTest(value, (path, rule) => report([index, ...path], rule)),
  );
  return {
    tests: tests.filter((test) => test !== undefined),
    mayBeAbsent: values.some(allowsAbsence),
  };
};
