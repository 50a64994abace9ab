/** What is wrong with an event in EventBridge's envelope, by its JSON Schema; undefined for a valid one. */
export const contractProblem: (event: object) => string | undefined;
