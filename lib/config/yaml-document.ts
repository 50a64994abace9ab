import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  type parseDocument,
  visit,
} from "yaml";

/** Something that keeps a text from being read, as the parser says it or we do. */
export interface Flaw {
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
export const inWords = (message: string): string =>
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
export const keepExactNumbers = (document: Document): void => {
  visit(document, {
    Scalar(_key, scalar) {
      const { value, source } = scalar;
      if (typeof value === "number" && Number.isInteger(value) && source) scalar.value = source;
    },
  });
};

/** Everything that keeps the document from being read as it was meant. */
export const flawsOf = (document: ReturnType<typeof parseDocument>): readonly Flaw[] => {
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
export const offsetOf = (contents: Node | null, path: readonly PropertyKey[]): number => {
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
