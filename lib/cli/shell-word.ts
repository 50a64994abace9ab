import { visibleText } from "./visible-text.ts";

/** A text as one word of a shell, for whoever types what is shown; an id may hold anything. */
export const shellWord = (text: string): string =>
  visibleText(/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
