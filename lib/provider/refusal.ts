import * as z from "zod";
import { parseWireJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { keyRedactorOf } from "./key-redaction.ts";
import { type Disposition, ProviderError, type ProviderErrorCode } from "./provider-error.ts";

/** Tasks hold a resource for seconds to minutes; the provider's own clients retry a lock every 10 s. */
const LOCK_RETRY_MS = 10_000;

/** A longer pause than any provider means; what is far beyond it would not fit into a date. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000;
/** A longer text is quoted unread: reading JSON without loss takes about a second for 10 MB. */
const MAX_READ_CHARACTERS = 100_000;
const MAX_QUOTED_CHARACTERS = 500;
const MAX_PROBLEMS = 100;

const rulesSchema = z.union([z.string().transform((rule) => [rule]), z.array(z.string())]);
/** The three families' error bodies at once; every key may be missing. */
const errorBodySchema = z.looseObject({
  message: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
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
  // A body of another shape still says more than its status.
  const said = message || error || (problems.length > 0 ? "" : text);
  return { message: quote(redact(said)), problems };
};

/** RFC 9110 dates; Date.parse alone also reads `1.5` or `soon 5` as dates of 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/** `Retry-After` in both of its forms, seconds or an HTTP date; nothing when it asks for no pause. */
const retryAfterMs = (
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
      // A refused key of ours is the account's problem: the command waits for a key that works.
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
 * Turns an answer that is not the operation's success into an error with its disposition.
 * @param answer `text`: the body, or what could be read of it; `apiKey`: never quoted, even if the
 * provider does; `now`: epoch ms, to which a date in `Retry-After` is relative; `maxPauseMs`: the
 * longest pause that it may ask for
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
  const asked = retryAfterMs(response, answer.now, answer.maxPauseMs);
  return new ProviderError({
    disposition,
    code,
    status: response.status,
    message: `${operation.id}: ${response.status} ${code}${message && `: ${message}`}`,
    problems,
    retryAfterMs: asked ?? (code === "locked" ? LOCK_RETRY_MS : undefined),
  });
};
