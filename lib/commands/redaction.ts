import { asInJson } from "../contract/json.ts";
import { type Mutation, requestField } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import type { CommandRequestBody } from "../ledger/command.ts";

/** Shorter values are only replaced as whole words: replacing every `1` would blot out the text. */
const MIN_LENGTH_INSIDE_WORDS = 4;
/** Texts are cut off at some hundred characters; a longer end of one is not looked through. */
const MAX_CUT_LENGTH = 1000;
const REDACTED = "[redacted]";

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(stringsIn);
};

/** Texts are compared on one line: whoever quotes one may have folded its white space. */
const folded = (text: string): string => text.replace(/\s+/g, " ");

/** A value may come back as it was sent, inside JSON text, with that text quoted in another one, or inside a URL. */
const spellingsOf = (value: string): readonly string[] => {
  const inForm = new URLSearchParams({ value }).toString().slice("value=".length);
  const inUrl = encodeURIComponent(value.replace(/\p{Surrogate}/gu, "\ufffd"));
  const plain = folded(value).trim();
  const inJson = [asInJson(value), asInJson(plain)];
  return [plain, ...inJson, ...inJson.map(asInJson), inForm, inUrl];
};

/** A text that was cut off may end with the beginning of a value. */
const withoutCutValue = (text: string, spelling: string): string => {
  const longest = Math.min(spelling.length - 1, text.length, MAX_CUT_LENGTH);
  for (let length = longest; length >= MIN_LENGTH_INSIDE_WORDS; length--) {
    if (text.endsWith(spelling.slice(0, length))) return text.slice(0, -length) + REDACTED;
  }
  return text;
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Removes the secret values of a request from texts that the provider wrote. When the request is
 * erased already, nobody can tell what is secret in a text: then nothing of it is left.
 * @returns a function from text to the text on one line without any of those values
 */
export const redactorOf = (
  operation: Mutation,
  request: CommandRequestBody | undefined,
): ((text: string) => string) => {
  const { secrets = [] } = operation;
  if (!request && secrets.length > 0) return () => REDACTED;
  const values = request ? secrets.flatMap((field) => stringsIn(requestField(request, field))) : [];
  const spellings = [...new Set(values.flatMap(spellingsOf))]
    .filter((value) => value !== "")
    .sort((a, b) => b.length - a.length);
  const patterns = spellings.map((value) =>
    value.length >= MIN_LENGTH_INSIDE_WORDS
      ? escaped(value)
      : `(?<![A-Za-z0-9])${escaped(value)}(?![A-Za-z0-9])`,
  );
  if (patterns.length === 0) return (text) => text;
  const secret = new RegExp(patterns.join("|"), "g");
  return (text) => spellings.reduce(withoutCutValue, folded(text).replace(secret, REDACTED));
};

export const redactProblems = (
  problems: readonly Problem[],
  redact: (text: string) => string,
): Problem[] => problems.map(({ path, rule }) => ({ path: redact(path), rule: redact(rule) }));
