import * as z from "zod";
import { formatWireJson } from "../contract/json.ts";
import type { Body, Operation, Params, Query } from "../contract/operation.ts";

/** One request of an operation, in the decoded form: 64-bit integers are decimal strings. */
export interface OperationRequest<O extends Operation> {
  readonly params: Params<O>;
  readonly query: Query<O>;
  readonly body: Body<O>;
}

/** Fills a path template; every value is one segment. */
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

/** Path and query of a request. @throws ZodError when they are outside the contract */
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
 * @throws ZodError when the request is outside the contract
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
    // A redirect would carry the key to another address.
    redirect: "manual",
  });
};
