/** Name of the only account of a local run without an accounts file. */
export const DEFAULT_ACCOUNT = "local";
