export type TextTest = (text: string) => boolean;

/**
 * Where `wanted` ends in the text if it stands at `from` in any case; -1 if it does not. As in Ruler
 * (EqualsIgnoreCaseParser), each character may stand as its own lower or upper case, which may be
 * longer than itself.
 */
const endOfAnyCase = (text: string, wanted: string, from: number): number => {
  let at = from;
  for (const character of wanted.split("")) {
    const forms = [character.toLowerCase(), character.toUpperCase()];
    const found = forms.find((form) => text.startsWith(form, at));
    if (found === undefined) return -1;
    at += found.length;
  }
  return at;
};

/** The same from the end: where `wanted` begins if the text ends with it in any case. */
const beginOfAnyCase = (text: string, wanted: string): number => {
  let at = text.length;
  for (const character of wanted.split("").reverse()) {
    const forms = [character.toLowerCase(), character.toUpperCase()];
    const found = forms.find((form) => text.endsWith(form, at));
    if (found === undefined) return -1;
    at -= found.length;
  }
  return at;
};

export const beginsWith =
  (wanted: string): TextTest =>
  (text) =>
    text.startsWith(wanted);

export const endsWith =
  (wanted: string): TextTest =>
  (text) =>
    text.endsWith(wanted);

export const beginsWithAnyCase =
  (wanted: string): TextTest =>
  (text) =>
    endOfAnyCase(text, wanted, 0) >= 0;

export const endsWithAnyCase =
  (wanted: string): TextTest =>
  (text) =>
    beginOfAnyCase(text, wanted) >= 0;

export const equalsAnyCase =
  (wanted: string): TextTest =>
  (text) =>
    endOfAnyCase(text, wanted, 0) === text.length;
