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

/** Something that keeps a text from being read, as the parser says it or we do. */
interface Flaw {
  readonly message: string;
  readonly offset?: number;
}

/** Flaws of one file that the parser finds. */
const MAX_PARSED = 10;

/** For what the parser says in words about its own functions. */
const WORDS = new Map([
  ["MULTIPLE_DOCS", "a file holds one document"],
  ["Maximum call stack size exceeded", "nested too deeply"],
]);

/** What the parser says, for people: its first line up to a colon, behind which it quotes the file. */
const inWords = (message: string): string =>
  WORDS.get(message) ?? (message.split("\n", 1)[0] ?? "").split(": ", 1)[0] ?? "";

/** In one pass over the file: the parser itself compares each key of a map with every other. */
const repeatedKeys = (document: Document): readonly Flaw[] => {
  const flaws: Flaw[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        // As JSON will have them: 1 and "1" are one key.
        const name = String(key.value);
        const offset = key.range?.[0] ?? 0;
        if (seen.has(name)) flaws.push({ message: "a key stands twice in one map", offset });
        seen.add(name);
      }
    },
  });
  return flaws;
};

/** A number with a fraction or an exponent that is read as a whole one was perhaps rounded: its text tells. */
const keepExactNumbers = (document: Document): void => {
  visit(document, {
    Scalar(_key, scalar) {
      const { value, source } = scalar;
      if (typeof value === "number" && Number.isInteger(value) && source) scalar.value = source;
    },
  });
};

/** Everything that keeps the document from being read as it was meant. */
const flawsOf = (document: ReturnType<typeof parseDocument>): readonly Flaw[] => {
  const parsed = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    message: WORDS.get(code) ?? inWords(message),
    offset: pos[0],
  }));
  // The first is what is wrong; most that follow are what comes of it.
  if (parsed.length > 0) return parsed.slice(0, MAX_PARSED);
  const { explicit, version } = document.directives?.yaml ?? {};
  // Earlier versions read 010 as 8 and yes as true.
  if (explicit && version !== "1.2") return [{ message: "only YAML 1.2 is read", offset: 0 }];
  return repeatedKeys(document);
};

/** Where the text says something about the path: its own place, or that of the nearest parent. */
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
