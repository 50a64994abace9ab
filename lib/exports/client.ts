/**
 * `skyhook/client`: a typed client of the provider's HTTP interface. One call is one request. The client never
 * retries: `ProviderError.disposition` says whether the same call may be repeated.
 */
import { baseUrl } from "../config/values.ts";
import type { Body, Operation, Params, Query, Reply } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { problemsOf, problemsText } from "../contract/problem.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { createSystemClock } from "../platform/system.ts";
import { createClient as createProviderClient, type OperationRequest } from "../provider/client.ts";

export type { Operation, Reply } from "../contract/operation.ts";
/** Every operation of the interface: id, method, path, and zod schemas of params, query, body and response. */
export { OPERATIONS } from "../contract/operations.ts";
export type { Problem } from "../contract/problem.ts";
export type { Clock } from "../platform/ports/clock.ts";
export {
  type Disposition,
  ProviderError,
  type ProviderErrorCode,
} from "../provider/provider-error.ts";

type Declared = (typeof OPERATIONS)[number];

/** Id of an operation, such as `update-container`. */
export type OperationId = Declared["id"];

/** Declaration of the operation with an id. */
export type OperationOf<Id extends OperationId> = Extract<Declared, { readonly id: Id }>;

/** A part of a request may be absent if none of its fields is required. */
type Part<Name extends string, T> =
  Record<never, never> extends T ? { readonly [Key in Name]?: T } : { readonly [Key in Name]: T };

/**
 * Request of an operation: path parameters, query and body, with the names of the interface. 64-bit integers
 * are decimal strings, because JavaScript numbers would round them.
 */
export type RequestOf<O extends Operation> = Part<"params", Params<O>> &
  Part<"query", Query<O>> &
  (undefined extends Body<O> ? { readonly body?: Body<O> } : { readonly body: Body<O> });

export interface CallOptions {
  /** Aborts the call, which then rejects with the code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  /** Address of the provider's API, such as `https://api.example.com`: no query, user or fragment. */
  readonly baseUrl: string;
  /** The API key, or a function that reads it before each request, so that a rotated key needs no restart. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Limit of one call in ms, from reading the key to the last byte of the reply. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** Path templates by operation id, where the provider uses another path. Default: the paths of the interface. */
  readonly paths?: { readonly [Id in OperationId]?: string } | undefined;
}

type CallArguments<O extends Operation> =
  Record<never, never> extends RequestOf<O>
    ? [request?: RequestOf<O>, options?: CallOptions]
    : [request: RequestOf<O>, options?: CallOptions];

export interface Client {
  /**
   * Sends one request and resolves to the checked reply; undefined for an operation without one.
   * @param operation id or declaration
   * @throws ProviderError when there is no usable reply; `code` and `disposition` say why
   * @throws ZodError when the request violates the interface; nothing was sent
   * @throws TypeError for an unknown id; nothing was sent
   */
  call<O extends Operation>(operation: O, ...request: CallArguments<O>): Promise<Reply<O>>;
  // The last overload, because the compiler quotes it in errors.
  call<Id extends OperationId>(
    operation: Id,
    ...request: CallArguments<OperationOf<Id>>
  ): Promise<Reply<OperationOf<Id>>>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** @throws TypeError for an unknown id */
const declarationOf = (id: string): Operation => {
  const found = OPERATIONS.find((operation) => operation.id === id);
  if (found) return found;
  const known = OPERATIONS.map((operation) => operation.id).join(", ");
  throw new TypeError(`unknown operation ${JSON.stringify(id)}; must be one of ${known}`);
};

/** @throws TypeError for an address that requests cannot use */
const checkedUrl = (url: string): string => {
  const read = baseUrl().safeParse(url);
  if (read.success) return read.data;
  throw new TypeError(`baseUrl: ${problemsText(problemsOf(read.error.issues))}`);
};

/**
 * Creates a client.
 * @throws TypeError for a `baseUrl` that is no http or https URL, or that has a user, query or fragment
 */
export const createClient = (options: ClientOptions): Client => {
  const { apiKey, clock = createSystemClock(), timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const client = createProviderClient({
    baseUrl: checkedUrl(options.baseUrl),
    apiKey: async () => (typeof apiKey === "string" ? apiKey : apiKey()),
    // Looked up at each call, because a test may replace it later.
    fetch: options.fetch ?? ((request) => fetch(request)),
    clock,
    attemptTimeoutMs: timeoutMs,
    paths: options.paths ?? {},
  });
  async function call<Id extends OperationId>(
    operation: Id,
    ...request: CallArguments<OperationOf<Id>>
  ): Promise<Reply<OperationOf<Id>>>;
  async function call<O extends Operation>(
    operation: O,
    ...request: CallArguments<O>
  ): Promise<Reply<O>>;
  async function call(
    operation: string | Operation,
    { params = {}, query = {}, body }: Partial<OperationRequest<Operation>> = {},
    { signal }: CallOptions = {},
  ): Promise<unknown> {
    const declaration = typeof operation === "string" ? declarationOf(operation) : operation;
    return client.call(declaration, { params, query, body }, signal);
  }
  return { call };
};
