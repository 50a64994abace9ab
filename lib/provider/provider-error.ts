import * as z from "zod";
import { parseWireJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";

/**
 * Meaning of a failed call for its caller, decided once, here at the client.
 * - `transient`: the call was a read or had no effect; the same call may succeed later.
 * - `throttled`: like `transient`, and the provider asked for a pause.
 * - `permanent`: the provider refused the call and will refuse it again.
 * - `ambiguous`: the mutation left; whether it took effect, or which tasks it started, is unknown.
 * - `contract`: a success reply violates our schema. A read has no usable result; a mutation that its
 *   reply completes has taken effect.
 */
export type Disposition = "transient" | "throttled" | "permanent" | "ambiguous" | "contract";

/**
 * Stable codes of the cause; a code is never reused for another meaning. Nothing was sent for
 * `budget-spent` (the account's rate limit grants no permit), `paused` (the provider asked for a pause),
 * `budget-unavailable` (the ledger failed), and for `key-refused` without a status.
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

/** Error of a call without a usable reply. The message may quote text of the provider. */
export class ProviderError extends Error {
  readonly disposition: Disposition;
  readonly code: ProviderErrorCode;
  readonly status: number | undefined;
  /** Pause that the provider asked for, ms. */
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

/** Creates the error of a call; its message begins with the operation. */
export const callError = (
  operation: Operation,
  disposition: Disposition,
  code: ProviderErrorCode,
  text: string,
  details: Omit<ProviderErrorOptions, "disposition" | "code" | "message"> = {},
): ProviderError =>
  new ProviderError({ disposition, code, message: `${operation.id}: ${text}`, ...details });

/** The message without the problems at its end, which may be cut off. */
const withoutProblems = ({ message, problems }: ProviderError): string => {
  const listed = `: ${problems.map(({ path, rule }) => `${path}: ${rule}`).join("; ")}`;
  const [first] = problems;
  const at = first ? message.indexOf(`: ${first.path}: ${first.rule}`) : -1;
  return at >= 0 && listed.startsWith(message.slice(at)) ? message.slice(0, at) : message;
};

/**
 * Converts an error to a list of problems: its message at `path`, then the fields that the provider
 * names. Fields that the provider repeats in its message are removed from it.
 */
export const problemsOfError = (
  error: ProviderError,
  path = "",
): readonly [Problem, ...Problem[]] => [{ path, rule: withoutProblems(error) }, ...error.problems];

/**
 * Pause after a lock. Tasks hold a resource for seconds to minutes, and the provider's own clients retry
 * every 10 s.
 */
const LOCK_RETRY_MS = 10_000;

/** Limit of a `Retry-After`. No provider asks for more, and a much larger value does not fit into a date. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/**
 * Maximum length of a parsed error body. A longer one is quoted unparsed: lossless JSON parsing takes about
 * a second for 10 MB.
 */
const MAX_READ_CHARACTERS = 100_000;
const MAX_QUOTED_CHARACTERS = 500;
const MAX_PROBLEMS = 100;

const optionalText = z.string().optional().catch(undefined);
const rulesSchema = z.union([z.string().transform((rule) => [rule]), z.array(z.string())]);
/** Error bodies of all three API families in one schema; every key is optional. */
const errorBodySchema = z.looseObject({
  message: optionalText,
  error: optionalText,
  invalid_fields: z.record(z.string(), rulesSchema).optional().catch(undefined),
});

/** Reduces text of the provider to one line of bounded length, without splitting a surrogate pair. */
const quote = (text: string): string =>
  text
    .slice(0, MAX_QUOTED_CHARACTERS)
    .replaceAll(/\p{Surrogate}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();

interface ErrorBody {
  readonly message: string;
  readonly problems: readonly Problem[];
}

/** @param redact removes secrets from a text */
const readErrorBody = (text: string, redact: (quoted: string) => string): ErrorBody => {
  let json: unknown;
  try {
    json = text.length > MAX_READ_CHARACTERS ? undefined : parseWireJson(text);
  } catch {
    return { message: quote(redact(text)), problems: [] };
  }
  const { message, error, invalid_fields = {} } = errorBodySchema.safeParse(json).data ?? {};
  const problems = Object.entries(invalid_fields)
    .slice(0, MAX_PROBLEMS)
    .map(([path, rules]) => ({ path: quote(redact(path)), rule: quote(redact(rules.join("; "))) }));
  // A body of unknown shape is quoted whole, because it explains more than the status.
  const explanation = message || error || (problems.length > 0 ? "" : text);
  return { message: quote(redact(explanation)), problems };
};

/** Dates of RFC 9110. `Date.parse` alone also accepts `1.5` and `soon 5`, as dates of 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/** Reads `Retry-After`, in seconds or as an HTTP date, as ms; undefined when it asks for no pause. */
const requestedPauseMs = (
  response: Response,
  now: number,
  maxPauseMs = MAX_PAUSE_MS,
): number | undefined => {
  const header = response.headers.get("retry-after")?.trim() ?? "";
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  const pause = /^\d+$/.test(header) ? Number(header) * 1000 : at - now;
  return pause > 0 ? Math.min(pause, maxPauseMs, MAX_PAUSE_MS) : undefined;
};

const isClearRefusal = (status: number): boolean => status >= 400 && status < 500;

const meaningOf = (
  operation: Operation,
  status: number,
): { disposition: Disposition; code: ProviderErrorCode } => {
  if (!isClearRefusal(status)) {
    const code = status >= 500 ? "server-error" : "reply-unexpected";
    return { disposition: operation.kind === "mutation" ? "ambiguous" : "transient", code };
  }
  switch (status) {
    case 401:
      // A refused key is a problem of the account: the command waits for a valid key.
      return { disposition: "transient", code: "key-refused" };
    case 403:
      return { disposition: "permanent", code: "forbidden" };
    case 404:
      return { disposition: "permanent", code: "not-found" };
    case 408:
      return { disposition: "transient", code: "timed-out" };
    case 409:
      return operation.kind === "mutation" && operation.conflictMeansLocked
        ? { disposition: "transient", code: "locked" }
        : { disposition: "permanent", code: "conflict" };
    case 429:
      return { disposition: "throttled", code: "throttled" };
    default:
      return { disposition: "permanent", code: "refused" };
  }
};

/**
 * Turns an unsuccessful response into an error with its disposition.
 * @param answer `text`: the body, possibly cut off; `redact`: removes the key wherever the provider quotes it;
 * `now`: epoch ms, base of a date in `Retry-After`; `maxPauseMs`: longest pause allowed
 */
export const refusalOf = (
  operation: Operation,
  response: Response,
  answer: {
    readonly text: string;
    readonly redact: (quoted: string) => string;
    readonly now: number;
    readonly maxPauseMs?: number | undefined;
  },
): ProviderError => {
  const { disposition, code } = meaningOf(operation, response.status);
  const { message, problems } = readErrorBody(answer.text, answer.redact);
  const asked = requestedPauseMs(response, answer.now, answer.maxPauseMs);
  const { status } = response;
  const retryAfterMs = asked ?? (code === "locked" ? LOCK_RETRY_MS : undefined);
  const text = `${status} ${code}${message && `: ${message}`}`;
  return callError(operation, disposition, code, text, { status, problems, retryAfterMs });
};

/** Error codes of failures before the first byte leaves: name lookup, connection, certificate. */
const NEVER_LEFT_CODES = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/**
 * System calls before sending. A reset or a lost route has the same error code before and after the request
 * leaves, so the system call distinguishes them.
 */
const NEVER_LEFT_CALLS = new Set(["connect", "getaddrinfo"]);

const networkErrorSchema = z.object({
  message: optionalText,
  code: optionalText,
  syscall: optionalText,
  /** One error for each address of a name with several. */
  errors: z.array(z.unknown()).optional().catch(undefined),
  cause: z.unknown().optional(),
});
type NetworkError = z.output<typeof networkErrorSchema>;

/** Finds the network's error inside the error of `fetch`: the first cause with a code. */
const networkErrorOf = (error: unknown): NetworkError | undefined => {
  const { data } = networkErrorSchema.safeParse(error);
  return data === undefined || data.code !== undefined || data.cause === undefined
    ? data
    : networkErrorOf(data.cause);
};

const hasNeverLeft = (error: unknown): boolean => {
  const { code = "", syscall = "", errors = [] } = networkErrorOf(error) ?? {};
  return errors.length > 0
    ? errors.every(hasNeverLeft)
    : NEVER_LEFT_CODES.has(code) || NEVER_LEFT_CALLS.has(syscall);
};

/** Reason why an attempt ended without a reply: its own deadline, the caller, or the network. */
export type StoppedBy = "deadline" | "caller" | "network";

/** Turns a rejected fetch into an error with its disposition. */
export const failureOf = (
  operation: Operation,
  error: unknown,
  stoppedBy: StoppedBy,
): ProviderError => {
  const { code: networkCode, message = "" } = networkErrorOf(error) ?? {};
  const detail = networkCode ? ` (${networkCode})` : "";
  // Only the message is kept: the error of fetch can hold received bytes that quote our header with the key.
  const cause = new Error(message);
  const after = operation.kind === "mutation" ? "ambiguous" : "transient";
  const failure = (disposition: Disposition, code: ProviderErrorCode, text: string) =>
    callError(operation, disposition, code, text, { cause });
  switch (stoppedBy) {
    case "deadline":
      return failure(after, "timed-out", "no reply in time");
    case "caller":
      return failure(after, "aborted", "aborted before the reply");
    case "network":
      return hasNeverLeft(error)
        ? failure("transient", "connection-failed", `no connection${detail}`)
        : failure(after, "connection-lost", `connection lost${detail}`);
    default:
      return stoppedBy satisfies never;
  }
};
