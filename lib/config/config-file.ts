import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  visit,
} from "yaml";
import type * as z from "zod";
import { type PlacedProblem, pathText, placedProblemsOf } from "../contract/problem.ts";

/** A reason why a text is unreadable, from the parser or from this file. */
interface Flaw {
  readonly message: string;
  readonly offset?: number;
}

const MAX_PARSER_FLAWS = 10;

/** Replacements for parser messages about its own functions. */
const WORDS = new Map([
  ["MULTIPLE_DOCS", "more than one document; a file has only one"],
  ["Maximum call stack size exceeded", "nested too deeply"],
]);

/** The parser's message without the quoted file: its first line up to a colon. */
const inWords = (message: string): string =>
  WORDS.get(message) ?? (message.split("\n", 1)[0] ?? "").split(": ", 1)[0] ?? "";

const MAX_KEY_CHARACTERS = 60;

const clipped = (key: string): string =>
  key.length > MAX_KEY_CHARACTERS ? `${key.slice(0, MAX_KEY_CHARACTERS)}…` : key;

/** Duplicate keys in linear time; the parser's own check compares each key of a map with every other. */
const duplicateKeys = (document: Document): readonly Flaw[] => {
  const flaws: Flaw[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        // As in JSON, 1 and "1" are one key.
        const name = String(key.value);
        const offset = key.range?.[0] ?? 0;
        if (seen.has(name)) flaws.push({ message: `duplicate key "${clipped(name)}"`, offset });
        seen.add(name);
      }
    },
  });
  return flaws;
};

/** Restores the text of fractions and exponents that the parser turned into an integer, perhaps by rounding. */
const keepExactNumbers = (document: Document): void => {
  visit(document, {
    Scalar(_key, scalar) {
      const { value, source } = scalar;
      if (typeof value === "number" && Number.isInteger(value) && source) scalar.value = source;
    },
  });
};

const flawsOf = (document: ReturnType<typeof parseDocument>): readonly Flaw[] => {
  const parsed = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    message: WORDS.get(code) ?? inWords(message),
    offset: pos[0],
  }));
  // The first flaw causes most of those that follow.
  if (parsed.length > 0) return parsed.slice(0, MAX_PARSER_FLAWS);
  const { explicit, version } = document.directives?.yaml ?? {};
  // Earlier versions read 010 as 8 and yes as true.
  if (explicit && version !== "1.2")
    return [{ message: "only YAML 1.2 is supported; remove the %YAML line", offset: 0 }];
  return duplicateKeys(document);
};

/** The offset of the path in the text, or of its nearest parent. */
const offsetOf = (contents: Node | null, path: readonly PropertyKey[]): number => {
  let node: unknown = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const part of path) {
    if (isMap<ParsedNode, ParsedNode>(node)) {
      const pair = node.items.find(({ key }) => String(key) === String(part));
      if (!pair) return offset;
      offset = pair.key.range[0];
      node = pair.value;
    } else if (isSeq<ParsedNode>(node)) {
      const item = node.items[Number(part)];
      if (!item) return offset;
      offset = item.range[0];
      node = item;
    } else return offset;
  }
  return offset;
};

export interface ConfigProblem {
  /** Dotted path such as `thresholds.3.bytes`; empty for the file as a whole. */
  readonly path: string;
  readonly rule: string;
  /** Line from 1; absent without a text. */
  readonly line?: number | undefined;
}

export const configProblemText = ({ path, rule, line }: ConfigProblem): string =>
  [line && `line ${line}`, path, rule].filter(Boolean).join(": ");

export type ConfigReading<T> =
  | { readonly kind: "valid"; readonly value: T }
  | { readonly kind: "invalid"; readonly problems: readonly ConfigProblem[] };

/** Maximum size of a file: enough for thousands of entries. A longer text takes too long to parse. */
const MAX_BYTES = 500_000;
const MAX_PROBLEMS = 1_000;

/** Converts a bigint to a number if that is exact. */
const plainNumber = (_key: unknown, value: unknown): unknown =>
  typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** Problems without repetitions, in the order of the file; the parser may repeat one for every bracket. */
const distinct = (problems: readonly ConfigProblem[]): readonly ConfigProblem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];

/** Remembers the newest text with its reading: a job reads its config far more often than the config changes. */
export const rememberingLast = <T>(read: (text: string) => T): ((text: string) => T) => {
  let last: { readonly text: string; readonly result: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: read(text) };
    return last.result;
  };
};

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
 * Reads a config file in YAML or JSON, with exact integers of any size. Each problem has its line, and none
 * quotes a value.
 * @param crossFieldRules problems of several fields together. They also run when single fields are invalid,
 * so that one reading reports every problem
 */
export const readConfig = <S extends z.ZodType>(
  schema: S,
  text: string,
  crossFieldRules: (content: unknown) => readonly PlacedProblem[] = () => [],
): ConfigReading<z.output<S>> => {
  if (Buffer.byteLength(text) > MAX_BYTES) {
    return invalid([{ path: "", rule: `the file is larger than ${MAX_BYTES} bytes` }]);
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
    // Aliases without an anchor, to themselves, or with an expansion beyond the memory limit.
    const message = error instanceof Error ? error.message : "";
    return invalid([unreadable(inWords(message))]);
  }
  if (content === null) return invalid([{ path: "", rule: "the file is empty", line: 1 }]);
  const parsed = schema.safeParse(content);
  const found = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...crossFieldRules(content),
  ];
  if (parsed.success && found.length === 0) return { kind: "valid", value: parsed.data };
  // Limit first: each line number needs a walk through the file.
  const problems = found.slice(0, MAX_PROBLEMS).map(({ path, rule }) => ({
    path: pathText(path),
    rule,
    line: lineAt(offsetOf(document.contents, path)),
  }));
  return invalid(problems.toSorted((a, b) => a.line - b.line));
};
