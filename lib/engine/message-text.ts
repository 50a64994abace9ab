/** What SQS does not take in a body, and JSON text can hold in its strings. */
const NOT_IN_A_BODY = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** The same JSON without characters that the queue does not take. */
export const messageText = (json: string): string =>
  json.replace(
    NOT_IN_A_BODY,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
