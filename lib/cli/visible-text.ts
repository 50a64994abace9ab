/** A text of somebody else's in one line: what would steer the terminal is shown by its number. */
export const visibleText = (text: string): string =>
  text.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
