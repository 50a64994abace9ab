import * as z from "zod";
import { parseWireJson } from "../contract/json.ts";
import type { Operation, Reply } from "../contract/operation.ts";
import { problemsOf } from "../contract/problem.ts";
import { getTask } from "../contract/tasks.ts";
import type { Clock } from "../ports/clock.ts";
import { failureOf } from "./failure.ts";
import { ProviderError } from "./provider-error.ts";
import { refusalOf } from "./refusal.ts";
import { buildRequest, type OperationRequest } from "./request.ts";

export interface ClientOptions {
  readonly baseUrl: string;
  /** Called for every request, so that a rotated key is used without a restart. */
  readonly apiKey: () => Promise<string>;
  /** `fetch`, or an app that answers in this process. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  /** How long one attempt may take, from sending to the last byte of the reply. */
  readonly attemptTimeoutMs: number;
  /** Path template of get-task: the document's, or the published one. */
  readonly taskPath: string;
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

const readReply = <O extends Operation>(operation: O, text: string): Reply<O> => {
  let json: unknown;
  try {
    json = operation.successStatus === 204 ? undefined : parseWireJson(text);
  } catch (error) {
    throw new ProviderError({
      disposition: operation.kind === "mutation" ? "ambiguous" : "contract",
      code: "reply-unreadable",
      message: `${operation.id}: the reply is not readable JSON`,
      cause: error,
    });
  }
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

/** Typed calls to the provider. One call is one request: when to try again is the caller's decision. */
export const createClient = (options: ClientOptions): Client => {
  const { clock } = options;

  const send = async (operation: Operation, request: Request, timedOut: () => boolean) => {
    try {
      const response = await options.fetch(request);
      const isRefusal = response.status >= 400 && response.status < 500;
      // A refusal is clear from its status, even when its text is cut off.
      const text = isRefusal ? await response.text().catch(() => "") : await response.text();
      return { response, text };
    } catch (error) {
      throw failureOf(operation, error, timedOut());
    }
  };

  return {
    async call(operation, request, signal) {
      const apiKey = await options.apiKey();
      if (signal?.aborted) {
        throw new ProviderError({
          disposition: "transient",
          code: "aborted",
          message: `${operation.id}: not sent, no time left`,
        });
      }
      const answered = new AbortController();
      const deadline = new AbortController();
      const path = operation.id === getTask.id ? options.taskPath : operation.path;
      const httpRequest = buildRequest(operation, path, request, {
        baseUrl: options.baseUrl,
        apiKey,
        signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
      });
      void clock
        .sleep(options.attemptTimeoutMs, answered.signal)
        .then(() => answered.signal.aborted || deadline.abort());
      try {
        const { response, text } = await send(
          operation,
          httpRequest,
          () => deadline.signal.aborted,
        );
        if (response.status >= 200 && response.status < 300) return readReply(operation, text);
        throw refusalOf(operation, response, text, clock.now());
      } finally {
        answered.abort();
      }
    },
  };
};
