import { asInJson } from "../contract/json.ts";

/** What is shorter is a word that a reply may have of its own. */
const MIN_KEY_CHARACTERS = 8;

const inLowerCase = (url: string): string => url.replace(/%../g, (code) => code.toLowerCase());

/** Removes an API key from text, also as JSON, as JSON in JSON, and each of these in a URL. */
export const keyRedactorOf = (apiKey: string): ((quoted: string) => string) => {
  const inJson = asInJson(apiKey);
  const plain = [apiKey, inJson, asInJson(inJson)];
  const inUrl = plain.map(encodeURIComponent);
  const forms = new Set([...plain, ...inUrl, ...inUrl.map(inLowerCase)]);
  return (quoted) => [...forms].reduce((text, form) => text.replaceAll(form, "[redacted]"), quoted);
};

const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [change(name), withTexts(part, change)]),
  );
};

/**
 * A reply without the key in any of its texts and names; a number that has the same digits stays.
 * @param text the reply as it came
 */
export const withoutKey = (reply: unknown, text: string, apiKey: string): unknown => {
  const redact = keyRedactorOf(apiKey);
  const isQuoted = apiKey.length >= MIN_KEY_CHARACTERS && redact(text) !== text;
  return isQuoted ? withTexts(reply, redact) : reply;
};
