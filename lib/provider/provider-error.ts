import * as z from "zod";
import { parseWireJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { keyRedactorOf } from "./api-key.ts";

/**
 * What a failed call means for its caller; decided once, here at the client.
 * - `transient`: nothing took effect (or it was a read); the same call may pass later.
 * - `throttled`: as transient; the provider asked for a pause.
 * - `permanent`: clearly refused; the same call will be refused again.
 * - `ambiguous`: the mutation left, and whether it took effect is unknown, or which tasks it started.
 * - `contract`: a success reply breaks our schema: a read is of no use, a mutation that its reply
 *   completes has taken effect.
 */
export type Disposition = "transient" | "throttled" | "permanent" | "ambiguous" | "contract";

/**
 * Stable words for the cause; a word is never reused for another meaning. Nothing was sent for
 * `budget-spent` (no permit within the account's rate limit), `paused` (the provider wants a pause),
 * `budget-unavailable` (the ledger cannot be read), and for `key-refused` without a status.
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

/** The error of a call, with the operation in its message. */
export const callError = (
  operation: Operation,
  disposition: Disposition,
  code: ProviderErrorCode,
  text: string,
  details: Omit<ProviderErrorOptions, "disposition" | "code" | "message"> = {},
): ProviderError =>
  new ProviderError({ disposition, code, message: `${operation.id}: ${text}`, ...details });

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

/** Tasks hold a resource for seconds to minutes; the provider's own clients retry a lock every 10 s. */
const LOCK_RETRY_MS = 10_000;

/** Longer than any provider means; a value far beyond it would not fit into a date. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** A longer text is quoted unparsed: lossless JSON parsing takes about a second for 10 MB. */
const MAX_READ_CHARACTERS = 100_000;
const MAX_QUOTED_CHARACTERS = 500;
const MAX_PROBLEMS = 100;

const optionalText = z.string().optional().catch(undefined);
const rulesSchema = z.union([z.string().transform((rule) => [rule]), z.array(z.string())]);
/** The three families' error bodies at once; every key may be missing. */
const errorBodySchema = z.looseObject({
  message: optionalText,
  error: optionalText,
  invalid_fields: z.record(z.string(), rulesSchema).optional().catch(undefined),
});

/** Text of the provider in one line of bounded length, whole characters only. */
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

/** @param redact removes what must not be quoted */
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
  // A body of an unknown shape says more than its status.
  const said = message || error || (problems.length > 0 ? "" : text);
  return { message: quote(redact(said)), problems };
};

/** RFC 9110 dates; Date.parse alone also reads `1.5` or `soon 5` as dates of 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/** `Retry-After` in both of its forms, seconds or an HTTP date; undefined when it asks for no pause. */
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
      // A refused key concerns the account: the command waits for a working key.
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
 * @param answer `text`: the body, possibly cut off; `apiKey`: never quoted, even if the provider does;
 * `now`: epoch ms, to which a date in `Retry-After` is relative; `maxPauseMs`: the longest pause allowed
 */
export const refusalOf = (
  operation: Operation,
  response: Response,
  answer: {
    readonly text: string;
    readonly apiKey: string;
    readonly now: number;
    readonly maxPauseMs?: number | undefined;
  },
): ProviderError => {
  const { disposition, code } = meaningOf(operation, response.status);
  const { message, problems } = readErrorBody(answer.text, keyRedactorOf(answer.apiKey));
  const asked = requestedPauseMs(response, answer.now, answer.maxPauseMs);
  const { status } = response;
  const retryAfterMs = asked ?? (code === "locked" ? LOCK_RETRY_MS : undefined);
  const text = `${status} ${code}${message && `: ${message}`}`;
  return callError(operation, disposition, code, text, { status, problems, retryAfterMs });
};

/** Failures before the first byte of the request leaves: name, connection or certificate. */
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
/** A reset or a lost route has one code before and after sending; the system call distinguishes them. */
const NEVER_LEFT_CALLS = new Set(["connect", "getaddrinfo"]);

const networkErrorSchema = z.object({
  message: optionalText,
  code: optionalText,
  syscall: optionalText,
  /** One error an address, when a name has several. */
  errors: z.array(z.unknown()).optional().catch(undefined),
  cause: z.unknown().optional(),
});
type NetworkError = z.output<typeof networkErrorSchema>;

/** `fetch` wraps the network's error: the first cause with a code has the facts. */
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

/** What ended the attempt: its own deadline, the caller, or the network. */
export type StoppedBy = "deadline" | "caller" | "network";

/** Turns a rejected fetch into an error with its disposition. */
export const failureOf = (
  operation: Operation,
  error: unknown,
  stoppedBy: StoppedBy,
): ProviderError => {
  const { code: networkCode, message = "" } = networkErrorOf(error) ?? {};
  const detail = networkCode ? ` (${networkCode})` : "";
  // Only the text: the error of fetch can hold bytes that came back, our header among them.
  const cause = new Error(message);
  const after = operation.kind === "mutation" ? "ambiguous" : "transient";
  const failure = (disposition: Disposition, code: ProviderErrorCode, text: string) =>
    callError(operation, disposition, code, text, { cause });
  switch (stoppedBy) {
    case "deadline":
      return failure(after, "timed-out", "no answer in time");
    case "caller":
      return failure(after, "aborted", "stopped before the answer");
    case "network":
      return hasNeverLeft(error)
        ? failure("transient", "connection-failed", `no connection${detail}`)
        : failure(after, "connection-lost", `connection lost${detail}`);
    default:
      return stoppedBy satisfies never;
  }
};
