import { formatWireJson, parseWireJson } from "../../lib/contract/json.ts";
import type { Fetch } from "./provider.ts";

export interface SentRequest {
  /** Body, sent as JSON; a bigint becomes a JSON number. */
  readonly body?: unknown;
  /** Raw body, sent instead of `body`. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  /** Headers in addition to a valid key and, with a body, `application/json`. null removes a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export interface Answer {
  readonly status: number;
  /** Parsed JSON, with integers over 2^53 as bigint; undefined without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any reply
  readonly body: any;
  readonly headers: Headers;
}

const toHeaders = (apiKey: string, hasBody: boolean, changes: SentRequest["headers"]): Headers => {
  const headers = new Headers({ authorization: `apikey ${apiKey}` });
  if (hasBody) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
};

/** Sends JSON requests over HTTP, with a valid API key by default. */
export const createExchange =
  (fetch: Fetch, baseUrl: string, apiKey: string) =>
  async (method: string, path: string, sent: SentRequest = {}): Promise<Answer> => {
    const text = sent.text ?? (sent.body === undefined ? undefined : formatWireJson(sent.body));
    const response = await fetch(
      new Request(`${baseUrl}${path}`, {
        method,
        headers: toHeaders(apiKey, text !== undefined, sent.headers),
        ...(text !== undefined && { body: text }),
      }),
    );
    const answered = await response.text();
    return {
      status: response.status,
      body: answered === "" ? undefined : parseWireJson(answered),
      headers: response.headers,
    };
  };
