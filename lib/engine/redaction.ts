import { type Mutation, requestFields } from "../contract/operation.ts";
import type { CommandRequestBody } from "./request-body.ts";

/** Shorter values are only replaced as whole words: replacing every `1` would blot out the text. */
const MIN_LENGTH_INSIDE_WORDS = 4;
/** Texts are cut off at some hundred characters; a longer beginning of a value is not compared. */
const MAX_CUT_LENGTH = 1000;
/** Longer texts are cut: only a few hundred characters of a text are ever shown. */
const MAX_TEXT_CHARACTERS = 100_000;
/** Layers of percent-encoding that are removed; no provider is known to add more than two. */
const MAX_PERCENT_LAYERS = 8;
const REDACTED = "[redacted]";

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(stringsIn);
};

/** Texts are compared on one line: a provider that quotes one may have folded its white space. */
const onOneLine = (text: string): string => text.replace(/\s+/g, " ");

/** A decoded text; its character at `i` stands for the original from `offsets[i]` to `offsets[i + 1]`. */
interface Decoded {
  readonly chars: string;
  readonly offsets: readonly number[];
}

/** A decoded part of a match, and the number of characters of the match that it covers. */
interface Part {
  readonly text: string;
  readonly length: number;
}

const replaceIn = (
  { chars, offsets }: Decoded,
  pattern: RegExp,
  decode: (match: string) => readonly Part[],
): Decoded => {
  let replaced = "";
  const moved: number[] = [];
  let end = 0;
  const add = (text: string, length: number): void => {
    for (let at = 0; at < text.length; at++) {
      moved.push(offsets[end + Math.min(at, length - 1)] ?? 0);
    }
    replaced += text;
    end += length;
  };
  for (const { 0: match, index } of chars.matchAll(pattern)) {
    add(chars.slice(end, index), index - end);
    for (const { text, length } of decode(match)) add(text, length);
  }
  add(chars.slice(end), chars.length - end);
  return { chars: replaced, offsets: [...moved, offsets.at(-1) ?? 0] };
};

/** The UTF-8 character at the front of the bytes; U+FFFD for a byte that begins none. */
const firstCharacter = (bytes: Buffer): Part => {
  for (let length = 1; length <= 4; length++) {
    const text = bytes.subarray(0, length).toString("utf8");
    if (bytes.subarray(0, length).equals(Buffer.from(text))) return { text, length };
  }
  return { text: "\ufffd", length: 1 };
};

/** Decodes a run of `%XX`. */
const percentDecoded = (run: string): readonly Part[] => {
  const parts: Part[] = [];
  let bytes = Buffer.from(run.replaceAll("%", ""), "hex");
  while (bytes.length > 0) {
    const { text, length } = firstCharacter(bytes);
    parts.push({ text, length: length * "%XX".length });
    bytes = bytes.subarray(length);
  }
  return parts;
};

const unescaped = (quoted: string): string => {
  const code = /u([0-9a-fA-F]{4})$/.exec(quoted)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (quoted.endsWith("b")) return "\b";
  // The other letters that JSON writes after a backslash stand for white space.
  return quoted.endsWith("\\") ? "" : " ";
};

/**
 * Removes every layer of JSON and URL encoding. JSON only multiplies the backslashes of what is
 * escaped, so a run of any length counts as one, and a value and its quotation become equal
 * however often the quotation was encoded, and in which order.
 */
const decoded = (text: string): Decoded => {
  let result: Decoded = {
    chars: text,
    offsets: Array.from({ length: text.length + 1 }, (_, at) => at),
  };
  for (let layer = 0; layer < MAX_PERCENT_LAYERS && result.chars.includes("%"); layer++) {
    result = replaceIn(result, /(?:%[0-9a-f]{2})+/gi, percentDecoded);
  }
  const whole = (change: (match: string) => string) => (match: string) => [
    { text: change(match), length: match.length },
  ];
  const plain = replaceIn(result, /\\+(?:u[0-9a-fA-F]{4}|[bfnrt])?/g, whole(unescaped));
  return replaceIn(
    plain,
    /[\s+]+/g,
    whole(() => " "),
  );
};

interface Span {
  readonly from: number;
  readonly to: number;
}

const isLetterOrDigit = (char: string | undefined): boolean => /[A-Za-z0-9]/.test(char ?? "");

/** All occurrences of a value in a text; of a short value only whole words. */
const occurrencesOf = (value: string, chars: string): readonly Span[] => {
  const spans: Span[] = [];
  if (value === "") return spans;
  for (let at = chars.indexOf(value); at >= 0; at = chars.indexOf(value, at + 1)) {
    const to = at + value.length;
    const isWord = !isLetterOrDigit(chars[at - 1]) && !isLetterOrDigit(chars[to]);
    if (value.length >= MIN_LENGTH_INSIDE_WORDS || isWord) spans.push({ from: at, to });
  }
  return spans;
};

/** Where a text that was cut off ends with the beginning of a value; undefined if it does not. */
const startOfCut = (value: string, chars: string): number | undefined => {
  const longest = Math.min(value.length - 1, chars.length, MAX_CUT_LENGTH);
  for (let length = longest; length >= MIN_LENGTH_INSIDE_WORDS; length--) {
    if (chars.endsWith(value.slice(0, length))) return chars.length - length;
  }
  return undefined;
};

/** The end of a text that was cut off in the middle of an escape. */
const CUT_ESCAPE = /(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3})?)$/i;
/** The rest of a multi-byte character that was cut off. */
const CUT_CHARACTER = /\ufffd{1,3}$/;

/** One secret as the request has it, and without its encoding; both on one line. */
interface Secret {
  readonly plain: string;
  readonly bare: string;
}

/** Occurrences of a value as it was sent. A short value is compared in its decoded form only. */
const plainSpans = (value: string, text: string): readonly Span[] => {
  if (value.length < MIN_LENGTH_INSIDE_WORDS) return [];
  const spans = occurrencesOf(value, text);
  const cut = startOfCut(value, text);
  return cut === undefined ? spans : [...spans, { from: cut, to: text.length }];
};

/**
 * The parts of a text that hold a secret, or its beginning where the text was cut off; in any order.
 */
const secretSpans = (secrets: readonly Secret[], text: string): readonly Span[] => {
  const { chars, offsets } = decoded(text);
  const beforeCut = decoded(text.replace(CUT_ESCAPE, ""));
  const charsBeforeCut = beforeCut.chars.replace(CUT_CHARACTER, "");
  return secrets.flatMap(({ plain, bare }) => {
    const encoded = occurrencesOf(bare, chars).map(({ from, to }) => ({
      from: offsets[from] ?? 0,
      to: offsets[to] ?? text.length,
    }));
    const cut = startOfCut(bare, charsBeforeCut);
    const last = cut === undefined ? [] : [{ from: beforeCut.offsets[cut] ?? 0, to: text.length }];
    // Also compared as it was sent: a `\` or `%` before the value would be decoded with its first
    // letters.
    return [...plainSpans(plain, text), ...encoded, ...last];
  });
};

const withoutSecrets = (secrets: readonly Secret[], text: string): string => {
  const spans = secretSpans(secrets, text).toSorted((a, b) => a.from - b.from);
  let shown = "";
  let end = -1;
  for (const { from, to } of spans) {
    // Secrets that touch are redacted as one.
    if (from > end) shown += text.slice(Math.max(end, 0), from) + REDACTED;
    end = Math.max(end, to);
  }
  return shown + text.slice(Math.max(end, 0));
};

/**
 * Removes the secret values of a request from texts that the provider wrote, also where they are
 * encoded as JSON or in a URL, in any number of layers. When the request is already erased, its secrets
 * are unknown and the whole text is replaced.
 * @returns a function from text to the text on one line without any of those values
 */
export const redactorOf = (
  operation: Mutation,
  request: CommandRequestBody | undefined,
): ((text: string) => string) => {
  const { secrets = [] } = operation;
  if (!request && secrets.length > 0) return () => REDACTED;
  const texts = request ? stringsIn(requestFields(request, secrets)) : [];
  const found = [...new Set(texts)].map((value) => ({
    plain: onOneLine(value).trim(),
    bare: decoded(value).chars.trim(),
  }));
  return (text) => withoutSecrets(found, onOneLine(text.slice(0, MAX_TEXT_CHARACTERS)));
};
