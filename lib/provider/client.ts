import * as z from "zod";
import {
  type BodyText,
  formatWireJson,
  parseMoneyJson,
  parseWireJson,
  readText,
} from "../contract/json.ts";
import type { Body, Operation, Params, Query, Reply } from "../contract/operation.ts";
import { problemsOf } from "../contract/problem.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { keyRedactorOf, sendableKey, withoutKey } from "./api-key.ts";
import {
  callError,
  failureOf,
  type ProviderError,
  refusalOf,
  type StoppedBy,
} from "./provider-error.ts";

/** One request of an operation, in decoded form: 64-bit integers are decimal strings. */
export interface OperationRequest<O extends Operation> {
  readonly params: Params<O>;
  readonly query: Query<O>;
  readonly body: Body<O>;
}

/** Fills a path template. Every value becomes one segment. */
const fillPath = (template: string, params: Readonly<Record<string, unknown>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));

const queryString = (query: Readonly<Record<string, unknown>>): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) search.append(name, String(item));
    }
  }
  const text = search.toString();
  return text && `?${text}`;
};

const fields = z.record(z.string(), z.unknown());

/**
 * Returns the path and query string of a request.
 * @throws ZodError when they violate the contract
 */
export const requestTarget = (
  operation: Operation,
  path: string,
  request: { readonly params: unknown; readonly query: unknown },
): string => {
  const params = z.encode<z.ZodType>(operation.params, request.params);
  const query = z.encode<z.ZodType>(operation.query, request.query);
  return fillPath(path, fields.parse(params)) + queryString(fields.parse(query));
};

/**
 * Builds the HTTP request of a call.
 * @throws ZodError when the request violates the contract
 */
export const buildRequest = <O extends Operation>(
  operation: O,
  path: string,
  request: OperationRequest<O>,
  options: { readonly baseUrl: string; readonly apiKey: string; readonly signal: AbortSignal },
): Request => {
  const body = z.encode(operation.body, request.body);
  const url = options.baseUrl.replace(/\/+$/, "") + requestTarget(operation, path, request);
  const headers = new Headers({
    authorization: `apikey ${options.apiKey}`,
    accept: "application/json",
  });
  if (body !== undefined) headers.set("content-type", "application/json");
  return new Request(url, {
    method: operation.method,
    headers,
    body: body === undefined ? null : formatWireJson(body),
    signal: options.signal,
    // Following a redirect would send the key to another address.
    redirect: "manual",
  });
};

/**
 * Size limit of a success reply. A list of a thousand tasks is 1 to 2 MB; lossless JSON parsing takes about
 * a second for 10 MB.
 */
export const MAX_REPLY_BYTES = 10_000_000;
/** Size limit of an error reply. Errors quote only its beginning. */
export const MAX_REFUSAL_BYTES = 400_000;

const NO_TEXT: BodyText = { text: "", isWhole: false };

/**
 * Settles with the work, or rejects with the signal's reason as soon as the signal aborts. Needed for work
 * that ignores the signal, such as an app in this process, and must not exceed the time of the attempt.
 */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/** Path templates by operation id. */
export type OtherPaths = Readonly<Record<string, string>>;

export interface ProviderOptions {
  readonly baseUrl: string;
  /** `fetch`, or an app in this process. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  /** Time limit of one attempt, from reading the key to the last byte of the reply, ms. */
  readonly attemptTimeoutMs: number;
  /** Longest pause that a `Retry-After` may ask for, ms (default: 24 h). */
  readonly maxPauseMs?: number;
  /** Path templates of operations whose path differs from the contract at this provider. */
  readonly paths: OtherPaths;
}

export interface Client {
  /**
   * Sends one request once.
   * @throws ProviderError with the disposition of the failure
   * @throws ZodError when the request violates the contract; nothing was sent
   */
  call<O extends Operation>(
    operation: O,
    request: OperationRequest<O>,
    signal?: AbortSignal,
  ): Promise<Reply<O>>;
}

const unreadable = (operation: Operation, rule: string, cause?: unknown): ProviderError => {
  const disposition = operation.kind === "mutation" ? "ambiguous" : "contract";
  return callError(operation, disposition, "reply-unreadable", `the reply is ${rule}`, { cause });
};

const readJson = (operation: Operation, { text, isWhole }: BodyText): unknown => {
  if (operation.successStatus === 204) return undefined;
  if (!isWhole) throw unreadable(operation, `larger than ${MAX_REPLY_BYTES} bytes`);
  try {
    return operation.hasPrices ? parseMoneyJson(text) : parseWireJson(text);
  } catch (error) {
    throw unreadable(operation, "not valid JSON", error);
  }
};

const readReply = <O extends Operation>(operation: O, body: BodyText, apiKey: string): Reply<O> => {
  // Results and ends of tasks are published, with any text that the provider quotes in them.
  const json = withoutKey(readJson(operation, body), body.text, apiKey);
  const reply = z.safeParse<O["response"]>(operation.response, json);
  if (reply.success) return reply.data;
  const problems = problemsOf(reply.error.issues);
  // Without its task ids the outcome of a mutation cannot be followed.
  const disposition =
    operation.kind === "mutation" && operation.answers === "tasks" ? "ambiguous" : "contract";
  const text = "the reply violates the contract";
  throw callError(operation, disposition, "reply-unexpected", text, { problems });
};

/** Error of a call that was stopped before its request left. */
export const notSent = (operation: Operation, reason = "no time left"): ProviderError =>
  callError(operation, "transient", "aborted", `not sent: ${reason}`);

const keyUnavailable = (operation: Operation, rule: string, cause?: unknown): ProviderError =>
  callError(operation, "transient", "key-unavailable", `not sent: ${rule}`, { cause });

/**
 * Reads the API key for one request.
 * @throws ProviderError `key-unavailable`, transient because nothing was sent
 */
export const readApiKey = async (
  operation: Operation,
  apiKey: () => Promise<string>,
  signal: AbortSignal,
): Promise<string> => {
  const text = await unlessAborted(apiKey(), signal).catch((error: unknown) => {
    throw signal.aborted
      ? keyUnavailable(operation, "reading the API key took too long")
      : keyUnavailable(operation, "the API key cannot be read", error);
  });
  const key = sendableKey(text);
  // Checked here, because the error of fetch would quote the header with the key.
  if (key === undefined)
    throw keyUnavailable(operation, "the API key has characters that HTTP headers do not allow");
  return key;
};

interface SendOptions {
  /**
   * The key, as `readApiKey` returns it, or a function that reads it within the time limit. Its errors become causes
   * and must not contain the key.
   */
  readonly apiKey: string | (() => Promise<string>);
  readonly signal?: AbortSignal | undefined;
}

/** As `call` of a client, with the key of this call. */
export type Send = <O extends Operation>(
  operation: O,
  request: OperationRequest<O>,
  options: SendOptions,
) => Promise<Reply<O>>;

/** Creates a function that sends typed requests to the provider. Callers decide about retries. */
export const createSend = (options: ProviderOptions): Send => {
  const { baseUrl, paths, fetch, clock, attemptTimeoutMs, maxPauseMs } = options;

  const exchange = async (http: Request, ended: AbortSignal) => {
    const response = await unlessAborted(fetch(http), ended);
    const maxBytes = response.ok ? MAX_REPLY_BYTES : MAX_REFUSAL_BYTES;
    const read = unlessAborted(readText(response, maxBytes), ended);
    // For an error reply the status is enough, even if its text is cut off.
    return { response, body: response.ok ? await read : await read.catch(() => NO_TEXT) };
  };

  return async (operation, request, { apiKey: key, signal }) => {
    const answered = new AbortController();
    // Follows `signal` by a listener: AbortSignal.any() costs several times as much.
    const over = new AbortController();
    const ended = over.signal;
    const follow = (): void => over.abort(signal?.reason);
    signal?.addEventListener("abort", follow, { once: true });
    let isLate = false;
    void clock.sleep(attemptTimeoutMs, answered.signal).then(() => {
      if (answered.signal.aborted) return;
      isLate = true;
      over.abort();
    });
    const stoppedBy = (): StoppedBy => {
      if (isLate) return "deadline";
      return signal?.aborted ? "caller" : "network";
    };
    try {
      if (signal?.aborted) throw notSent(operation);
      const apiKey = typeof key === "string" ? key : await readApiKey(operation, key, ended);
      const path = paths[operation.id] ?? operation.path;
      const http = buildRequest(operation, path, request, { baseUrl, apiKey, signal: ended });
      const { response, body } = await exchange(http, ended).catch((error: unknown) => {
        throw failureOf(operation, error, stoppedBy());
      });
      if (response.ok) return readReply(operation, body, apiKey);
      const redact = keyRedactorOf(apiKey);
      const { text } = body;
      throw refusalOf(operation, response, { text, redact, now: clock.now(), maxPauseMs });
    } finally {
      signal?.removeEventListener("abort", follow);
      answered.abort("answered");
    }
  };
};

export interface ClientOptions extends ProviderOptions {
  /** Called for every request, so that a rotated key is used without a restart. */
  readonly apiKey: () => Promise<string>;
}

/** Creates a client with a key of its own. One call is one request; callers decide about retries. */
export const createClient = ({ apiKey, ...options }: ClientOptions): Client => {
  const send = createSend(options);
  return { call: (operation, request, signal) => send(operation, request, { apiKey, signal }) };
};
