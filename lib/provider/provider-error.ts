import type { Problem } from "../contract/problem.ts";

/**
 * What a failed call means for its caller; decided once, here at the client.
 * - `transient`: nothing took effect (or it was a read); the same call may pass later.
 * - `throttled`: as transient; the provider asked for a pause.
 * - `permanent`: clearly refused; the same call will be refused again.
 * - `ambiguous`: the mutation left, and whether it took effect is unknown, or which tasks it started.
 * - `contract`: the provider said yes, in a form that breaks our schema: a read is of no use, a
 *   mutation that is done with its answer has taken effect.
 */
export type Disposition = "transient" | "throttled" | "permanent" | "ambiguous" | "contract";

/**
 * Stable words for the cause; a word is never reused for another meaning. Nothing was sent for
 * `budget-spent` (no turn in the account's budget), `paused` (the provider wants a pause),
 * `budget-unavailable` (the ledger did not tell), and for `key-refused` without a status.
 */
export type ProviderErrorCode =
  | "aborted"
  | "budget-spent"
  | "budget-unavailable"
  | "conflict"
  | "connection-failed"
  | "connection-lost"
  | "forbidden"
  | "key-refused"
  | "key-unavailable"
  | "locked"
  | "not-found"
  | "paused"
  | "refused"
  | "reply-unexpected"
  | "reply-unreadable"
  | "server-error"
  | "throttled"
  | "timed-out";

interface ProviderErrorOptions {
  readonly disposition: Disposition;
  readonly code: ProviderErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly problems?: readonly Problem[];
  readonly cause?: unknown;
}

/** A call that did not end with a usable reply. The message may quote the provider's own text. */
export class ProviderError extends Error {
  readonly disposition: Disposition;
  readonly code: ProviderErrorCode;
  readonly status: number | undefined;
  /** How long the provider asked us to wait, milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly problems: readonly Problem[];

  constructor(options: ProviderErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = "ProviderError";
    this.disposition = options.disposition;
    this.code = options.code;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.problems = options.problems ?? [];
  }
}

/** The message without the problems that it ends with, in whole or cut off. */
const withoutProblems = ({ message, problems }: ProviderError): string => {
  const said = `: ${problems.map(({ path, rule }) => `${path}: ${rule}`).join("; ")}`;
  const [first] = problems;
  const at = first ? message.indexOf(`: ${first.path}: ${first.rule}`) : -1;
  return at >= 0 && said.startsWith(message.slice(at)) ? message.slice(0, at) : message;
};

/**
 * An error as a list of problems: its message at `path`, then the fields that the provider names. A
 * provider may repeat its fields in its message; here each stands once.
 */
export const problemsOfError = (
  error: ProviderError,
  path = "",
): readonly [Problem, ...Problem[]] => [{ path, rule: withoutProblems(error) }, ...error.problems];
