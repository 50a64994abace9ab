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
  type Leaf,
  type LeafTest,
  NUMERIC_RANGE_RULE,
  onText,
  type Report,
  readIpAddress,
  readIpRange,
  readNumericTest,
  readWildcard,
  soleField,
  type TestFor,
  type TextTest,
} from "./operators.ts";

type ReadOperand = (operand: JsonValue, report: Report) => LeafTest | undefined;
type ReadText = (text: string, report: Report) => TextTest | undefined;

const TEXT_RULE = "must be a string";
const LIST_RULE = "must be a string, a number, a list of strings, or a list of numbers";
const CIDR_RULE =
  "must be a CIDR block of more than one address, such as 10.0.0.0/8 or 2001:db8::/32";
const VALUE_RULE = "must be a string, a number, true, false, null or an object with one operator";

const below =
  (report: Report, step: PropertyKey): Report =>
  (path, rule) =>
    report([step, ...path], rule);

/** Reads an object with exactly one operator and its operand. */
const readOperator = (
  object: JsonObject,
  operators: ReadonlyMap<string, ReadOperand>,
  report: Report,
): LeafTest | undefined => {
  const sole = soleField(object);
  if (!sole) return report([], "must have exactly one operator");
  const [name, operand] = sole;
  const readOperand = operators.get(name);
  return readOperand
    ? readOperand(operand, below(report, name))
    : report([name], `unknown operator, must be one of ${[...operators.keys()].join(", ")}`);
};

/** Reads an operand that excludes strings. Any other value passes. */
const excludedTexts =
  (readText: ReadText): ReadOperand =>
  (operand, report) => {
    const texts = isList(operand) ? operand : [operand];
    if (texts.length === 0) return report([], "must have at least one string");
    const tests = texts.map((text, index) => {
      const here = isList(operand) ? below(report, index) : report;
      return typeof text === "string" ? readText(text, here) : here([], TEXT_RULE);
    });
    const excluded = tests.filter((test) => test !== undefined).map(onText);
    return (leaf) => !excluded.some((test) => test(leaf));
  };

const excludedAffix = (testFor: TestFor): ReadOperand =>
  excludedTexts((text, report) =>
    // Every string begins and ends with it, so no string would match (Ruler refuses it too).
    text === "" ? report([], "must not be empty") : testFor(text),
  );

const EXCLUDED: ReadonlyMap<string, ReadOperand> = new Map([
  ["prefix", excludedAffix(beginsWith)],
  ["suffix", excludedAffix(endsWith)],
  ["equals-ignore-case", excludedTexts(equalsAnyCase)],
  ["wildcard", excludedTexts(readWildcard)],
]);

/** Reads `anything-but`. Its test applies to single leaves; a field without a leaf never matches. */
const readAnythingBut: ReadOperand = (operand, report) => {
  if (isObject(operand)) return readOperator(operand, EXCLUDED, report);
  const values = isList(operand) ? operand : [operand];
  const areNumbers = values.every((value) => typeof value === "number");
  const areTexts = values.every((value) => typeof value === "string");
  if (values.length === 0 || !(areNumbers || areTexts)) return report([], LIST_RULE);
  if (areNumbers && !values.every(isInNumericRange)) return report([], NUMERIC_RANGE_RULE);
  const excluded = new Set<JsonValue>(values);
  return (leaf) => !excluded.has(leaf);
};

/** Conditions on one field: some leaf passes one of the tests, or the field is absent where that is allowed. */
export interface Field {
  readonly tests: readonly LeafTest[];
  readonly mayBeAbsent: boolean;
}

const textOperand =
  (readText: ReadText): ReadOperand =>
  (operand, report) => {
    const test = typeof operand === "string" ? readText(operand, report) : report([], TEXT_RULE);
    return test && onText(test);
  };

const affixOperand =
  (testFor: TestFor, anyCase: TestFor): ReadOperand =>
  (operand, report) => {
    if (typeof operand === "string") return onText(testFor(operand));
    const [name, wanted = null] = (isObject(operand) && soleField(operand)) || [];
    return name === "equals-ignore-case"
      ? textOperand(anyCase)(wanted, below(report, name))
      : report([], 'must be a string, or { "equals-ignore-case": a string }');
  };

const readCidrTest: ReadOperand = (operand, report) => {
  const range = typeof operand === "string" ? readIpRange(operand) : undefined;
  if (range === undefined) return report([], CIDR_RULE);
  return onText((text) => {
    const address = readIpAddress(text);
    return address !== undefined && isInRange(address, range);
  });
};

/** Reads `exists`. For `exists: false` there is no test; `readField` records that the field may be absent. */
const readExistsTest: ReadOperand = (operand, report) => {
  if (typeof operand !== "boolean") return report([], "must be true or false");
  return operand ? () => true : undefined;
};

const OPERATORS: ReadonlyMap<string, ReadOperand> = new Map([
  ["prefix", affixOperand(beginsWith, beginsWithAnyCase)],
  ["suffix", affixOperand(endsWith, endsWithAnyCase)],
  ["equals-ignore-case", textOperand(equalsAnyCase)],
  ["wildcard", textOperand(readWildcard)],
  ["anything-but", readAnythingBut],
  ["numeric", readNumericTest],
  ["cidr", readCidrTest],
  ["exists", readExistsTest],
]);

/** Tests equality. IP addresses are equal in any notation, as in Ruler. */
const equalTo = (wanted: Leaf): LeafTest => {
  const address = typeof wanted === "string" ? readIpAddress(wanted) : undefined;
  if (address === undefined) return (leaf) => leaf === wanted;
  return onText((text) => {
    const found = readIpAddress(text);
    return found?.bits === address.bits && found.value === address.value;
  });
};

const readTest = (value: JsonValue, report: Report): LeafTest | undefined => {
  if (isList(value)) return report([], VALUE_RULE);
  return isObject(value) ? readOperator(value, OPERATORS, report) : equalTo(value);
};

const allowsAbsence = (value: JsonValue): boolean =>
  isObject(value) && Object.hasOwn(value, "exists") && value.exists === false;

/** Reads the list of values of one field of a pattern. */
export const readField = (values: readonly JsonValue[], report: Report): Field => {
  if (values.length === 0) report([], "must have at least one value");
  const tests = values.map((value, index) => readTest(value, below(report, index)));
  return {
    tests: tests.filter((test) => test !== undefined),
    mayBeAbsent: values.some(allowsAbsence),
  };
};
