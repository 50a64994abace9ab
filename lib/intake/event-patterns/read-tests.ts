import type { JsonValue } from "../../platform/ports/ledger.ts";
import { readAnythingBut } from "./anything-but.ts";
import { isInRange, readIpAddress, readIpRange } from "./ip-address.ts";
import { isList, isObject, type LeafTest } from "./leaf.ts";
import { readNumericTest } from "./numeric.ts";
import { onText, type Report, soleField } from "./operand.ts";
import {
  beginsWith,
  beginsWithAnyCase,
  endsWith,
  endsWithAnyCase,
  equalsAnyCase,
  type TextTest,
} from "./text-tests.ts";
import { readWildcard } from "./wildcard.ts";

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
