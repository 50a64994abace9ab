const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Older requests are rejected: the ledger may have deleted the command, and a replay would run it again.
 * Longer than SQS keeps a message (14 days).
 */
export const MAX_REQUEST_AGE_MS = 30 * DAY_MS;

/** Maximum time from now to a deadline. */
export const MAX_DEADLINE_MS = 7 * DAY_MS;

/** How long an ended command stays: longer than any request for it can be accepted. */
export const LEDGER_RETENTION_MS = 60 * DAY_MS;
