import * as z from "zod";
import { parseMoneyJson, parseWireJson } from "../contract/json.ts";
import type { Operation, Reply } from "../contract/operation.ts";
import { problemsOf } from "../contract/problem.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { readApiKey } from "./api-key.ts";
import { failureOf, type StoppedBy } from "./failure.ts";
import { withoutKey } from "./key-redaction.ts";
import { ProviderError } from "./provider-error.ts";
import { refusalOf } from "./refusal.ts";
import {
  MAX_REFUSAL_BYTES,
  MAX_REPLY_BYTES,
  NO_TEXT,
  type ReplyText,
  readText,
} from "./reply-text.ts";
import { buildRequest, type OperationRequest } from "./request.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Path template by operation id. */
export type OtherPaths = Readonly<Record<string, string>>;

export interface ClientOptions {
  readonly baseUrl: string;
  /**
   * Called for every request, so that a rotated key is used without a restart. The error of a
   * rejection becomes a cause: it must not hold the key.
   */
  readonly apiKey: () => Promise<string>;
  /** `fetch`, or an app that answers in this process. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  /** How long one attempt may take, from asking for the key to the last byte of the reply. */
  readonly attemptTimeoutMs: number;
  /** The longest pause that a `Retry-After` may ask for; absent: a day. */
  readonly maxPauseMs?: number;
  /** Path templates of operations that this provider answers elsewhere than the contract says. */
  readonly paths: OtherPaths;
}

export interface Client {
  /**
   * Sends one request once.
   * @throws ProviderError with the disposition of whatever went wrong
   * @throws ZodError when the request is outside the contract; nothing was sent
   */
  call<O extends Operation>(
    operation: O,
    request: OperationRequest<O>,
    signal?: AbortSignal,
  ): Promise<Reply<O>>;
}

const unreadable = (operation: Operation, rule: string, cause?: unknown): ProviderError =>
  new ProviderError({
    disposition: operation.kind === "mutation" ? "ambiguous" : "contract",
    code: "reply-unreadable",
    message: `${operation.id}: the reply is ${rule}`,
    cause,
  });

const readJson = (operation: Operation, { text, isWhole }: ReplyText): unknown => {
  if (operation.successStatus === 204) return undefined;
  if (!isWhole) throw unreadable(operation, `larger than ${MAX_REPLY_BYTES} bytes`);
  try {
    return operation.tellsOfMoney ? parseMoneyJson(text) : parseWireJson(text);
  } catch (error) {
    throw unreadable(operation, "not readable JSON", error);
  }
};

const readReply = <O extends Operation>(
  operation: O,
  replyText: ReplyText,
  apiKey: string,
): Reply<O> => {
  // A task's end or a result is told to others, whatever the provider quotes in it.
  const json = withoutKey(readJson(operation, replyText), replyText.text, apiKey);
  const reply = z.safeParse<O["response"]>(operation.response, json);
  if (reply.success) return reply.data;
  throw new ProviderError({
    // Without its task ids the outcome of a mutation cannot be followed.
    disposition:
      operation.kind === "mutation" && operation.answers === "tasks" ? "ambiguous" : "contract",
    code: "reply-unexpected",
    message: `${operation.id}: the reply breaks the contract`,
    problems: problemsOf(reply.error.issues),
  });
};

/** The error of a call that its caller stops before it leaves. */
export const notSent = (operation: Operation, reason = "no time left"): ProviderError =>
  new ProviderError({
    disposition: "transient",
    code: "aborted",
    message: `${operation.id}: not sent, ${reason}`,
  });

/** Typed calls to the provider. One call is one request: when to try again is the caller's decision. */
export const createClient = (options: ClientOptions): Client => {
  const { clock } = options;

  const send = async (request: Request, ended: AbortSignal) => {
    const response = await unlessAborted(options.fetch(request), ended);
    const maxBytes = response.ok ? MAX_REPLY_BYTES : MAX_REFUSAL_BYTES;
    const read = unlessAborted(readText(response, maxBytes), ended);
    // A refusal is clear from its status, even when its text is cut off.
    const replyText = response.ok ? await read : await read.catch(() => NO_TEXT);
    return { response, replyText };
  };

  return {
    async call(operation, request, signal) {
      const answered = new AbortController();
      const deadline = new AbortController();
      void clock
        .sleep(options.attemptTimeoutMs, answered.signal)
        .then(() => answered.signal.aborted || deadline.abort());
      const ended = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal;
      const stoppedBy = (): StoppedBy => {
        if (deadline.signal.aborted) return "deadline";
        return signal?.aborted ? "caller" : "nobody";
      };
      try {
        if (signal?.aborted) throw notSent(operation);
        const apiKey = await readApiKey(operation, options.apiKey, ended);
        const path = options.paths[operation.id] ?? operation.path;
        const { baseUrl } = options;
        const http = buildRequest(operation, path, request, { baseUrl, apiKey, signal: ended });
        const { response, replyText } = await send(http, ended).catch((error: unknown) => {
          throw failureOf(operation, error, stoppedBy());
        });
        if (response.ok) return readReply(operation, replyText, apiKey);
        const { text } = replyText;
        const { maxPauseMs } = options;
        throw refusalOf(operation, response, { text, apiKey, now: clock.now(), maxPauseMs });
      } finally {
        answered.abort();
      }
    },
  };
};
