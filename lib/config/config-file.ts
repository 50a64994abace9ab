import { LineCounter, parseDocument } from "yaml";
import type * as z from "zod";
import { type PlacedProblem, pathText, placedProblemsOf } from "../contract/problem.ts";
import { flawsOf, inWords, keepExactNumbers, offsetOf } from "./yaml-document.ts";

/** One thing that is wrong with a config file. */
export interface ConfigProblem {
  /** Dotted path such as `thresholds.3.bytes`; empty for the file as a whole. */
  readonly path: string;
  readonly rule: string;
  /** From 1; absent where there is no text to point at. */
  readonly line?: number | undefined;
}

/** A problem in one line: where it is, and the rule. */
export const configProblemText = ({ path, rule, line }: ConfigProblem): string =>
  [line && `line ${line}`, path, rule].filter(Boolean).join(": ");

export type ConfigReading<T> =
  | { readonly kind: "valid"; readonly value: T }
  | { readonly kind: "invalid"; readonly problems: readonly ConfigProblem[] };

/** A config is a list that people keep: thousands of entries. Reading a longer text takes long. */
const MAX_BYTES = 500_000;
const MAX_PROBLEMS = 1_000;

/** What a number cannot hold exactly stays a bigint. */
const plainNumber = (_key: unknown, value: unknown): unknown =>
  typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** Once each, in the order of the file: the parser may say one thing for every bracket. */
const distinct = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

const unreadable = (message: string, line?: number): ConfigProblem => ({
  path: "",
  rule: `not readable as YAML: ${message}`,
  ...(line !== undefined && { line }),
});

const invalid = (problems: readonly ConfigProblem[]): ConfigReading<never> => ({
  kind: "invalid",
  problems: distinct(problems).slice(0, MAX_PROBLEMS),
});

/**
 * Reads a config file, YAML or JSON (which is YAML), without losing integers of any size. Problems
 * name their line, none quotes a value.
 * @param between rules between fields, on the content as it was read; they are looked at even when a
 * field by itself is wrong, so that one reading tells of everything
 */
export const readConfig = <S extends z.ZodType>(
  schema: S,
  text: string,
  between: (content: unknown) => readonly PlacedProblem[] = () => [],
): ConfigReading<z.output<S>> => {
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return invalid([{ path: "", rule: `at most ${MAX_BYTES} bytes` }]);
  }
  const lines = new LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const document = parseDocument(text, {
    intAsBigInt: true,
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  let content: unknown;
  try {
    const flaws = flawsOf(document);
    if (flaws.length > 0) {
      return invalid(flaws.map(({ message, offset }) => unreadable(message, lineAt(offset ?? 0))));
    }
    keepExactNumbers(document);
    content = document.toJS({ reviver: plainNumber });
  } catch (error) {
    // Aliases that lead nowhere, to themselves, or to more than fits into memory.
    const message = error instanceof Error ? error.message : "";
    return invalid([unreadable(inWords(message))]);
  }
  if (content === null) return invalid([{ path: "", rule: "the file is empty", line: 1 }]);
  const parsed = schema.safeParse(content);
  const found = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...between(content),
  ];
  if (parsed.success && found.length === 0) return { kind: "valid", value: parsed.data };
  // Finding a line takes a walk through the file; whoever made thousands of mistakes made one.
  const problems = found.slice(0, MAX_PROBLEMS).map(({ path, rule }) => ({
    path: pathText(path),
    rule,
    line: lineAt(offsetOf(document.contents, path)),
  }));
  return invalid(problems.toSorted((a, b) => a.line - b.line));
};
