import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import { isList, isObject, type LeafTest } from "./leaf.ts";
import { isInNumericRange, NUMERIC_RANGE_RULE } from "./numeric.ts";
import { onText, type Report, soleField } from "./operand.ts";
import { beginsWith, endsWith, equalsAnyCase, type TextTest } from "./text-tests.ts";
import { readWildcard } from "./wildcard.ts";

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
export const readAnythingBut = (operand: JsonValue, report: Report): LeafTest | undefined => {
  if (isObject(operand)) return readExcludedBy(operand, report);
  const values = isList(operand) ? operand : [operand];
  const areNumbers = values.every((value) => typeof value === "number");
  const areTexts = values.every((value) => typeof value === "string");
  if (values.length === 0 || !(areNumbers || areTexts)) return report([], LIST_RULE);
  if (areNumbers && !values.every(isInNumericRange)) return report([], NUMERIC_RANGE_RULE);
  const excluded = new Set<JsonValue>(values);
  return (leaf) => !excluded.has(leaf);
};
