import * as z from "zod";
import { parseWireJson } from "../contract/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { type Disposition, ProviderError, type ProviderErrorCode } from "./provider-error.ts";

/** Tasks hold a resource for seconds to minutes; the provider's own clients retry a lock every 10 s. */
export const LOCK_RETRY_MS = 10_000;

/** The three families' error bodies at once; every key may be missing. */
const errorBodySchema = z.looseObject({
  message: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
  invalid_fields: z.record(z.string(), z.array(z.string())).optional().catch(undefined),
});

const MAX_QUOTED_CHARACTERS = 500;

const readErrorBody = (text: string): { message: string; problems: readonly Problem[] } => {
  let json: unknown;
  try {
    json = parseWireJson(text);
  } catch {
    return { message: text.slice(0, MAX_QUOTED_CHARACTERS), problems: [] };
  }
  const body = errorBodySchema.safeParse(json);
  if (!body.success) {
    return { message: text.slice(0, MAX_QUOTED_CHARACTERS), problems: [] };
  }
  const { message, error, invalid_fields = {} } = body.data;
  return {
    message: (message ?? error ?? "").slice(0, MAX_QUOTED_CHARACTERS),
    problems: Object.entries(invalid_fields).map(([path, rules]) => ({
      path,
      rule: rules.join("; "),
    })),
  };
};

/** `Retry-After` in both of its forms, seconds or an HTTP date. */
const retryAfterMs = (response: Response, now: number): number | undefined => {
  const header = response.headers.get("retry-after")?.trim();
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
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
 * @param text the body, or what could be read of it
 * @param now epoch ms, to which a date in `Retry-After` is relative
 */
export const refusalOf = (
  operation: Operation,
  response: Response,
  text: string,
  now: number,
): ProviderError => {
  const { disposition, code } = meaningOf(operation, response.status);
  const { message, problems } = readErrorBody(text);
  const asked = retryAfterMs(response, now);
  return new ProviderError({
    disposition,
    code,
    status: response.status,
    message: `${operation.id}: ${response.status} ${code}${message && `: ${message}`}`,
    problems,
    retryAfterMs: asked ?? (code === "locked" ? LOCK_RETRY_MS : undefined),
  });
};
