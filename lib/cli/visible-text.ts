const byNumber = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/**
 * A text of somebody else's in one line: what would steer the terminal, or write from right to left, is
 * shown by its number.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, byNumber);
