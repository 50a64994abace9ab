/** What steers a terminal, breaks a line or writes from right to left. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const byNumber = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/**
 * A text of somebody else's in one line: what would steer the terminal, or write from right to left, is
 * shown by its number.
 */
export const visibleText = (text: string): string => text.replaceAll(STEERING, byNumber);

/** JSON in one line for a terminal and a pipe alike: what JSON lets through of the same is escaped. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(STEERING, (character) =>
    character.split("").map(byNumber).join(""),
  );
