import stringWidth from "string-width";

/** Printable ASCII without escapes for colours, a column each. */
const PLAIN = /^[ -~]*$/;

/**
 * Columns of a text at a terminal, without its escapes for colours. Most texts are plain, and only the others need the
 * tables of Unicode, which take 11 ms to load.
 */
export const textWidth = (text: string): number =>
  PLAIN.test(text) ? text.length : stringWidth(text);
