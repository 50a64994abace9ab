import { type Context, Hono } from "hono";
import { type Router, UnsupportedPathError } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { TrieRouter } from "hono/router/trie-router";
import { formatWireJson, parseRequestJson } from "../contract/json.ts";
import { type Endpoint, familyOf } from "../contract/operation.ts";
import { epochMsOf } from "../contract/values.ts";
import { authenticate, type FindKey, RETRY_AFTER_SECONDS } from "./admission.ts";
import { createDocs, DOCS_PATHS } from "./docs.ts";
import { errorBody, fault, invalid, notFound, RefusedError } from "./errors.ts";
import { mayHaveBody, notJson, readJson } from "./request-body.ts";
import type { RequestNotes } from "./request-log.ts";
import { queryOf, type RawValues } from "./request-values.ts";
import type { MountedRoute } from "./routes.ts";
import type { Route } from "./routing.ts";
import type { KeyRecord } from "./state/keys.ts";

/** Maximum size of a body, far above any documented one; the provider publishes no limit. */
const MAX_BODY_BYTES = 1_048_576;

const parseBody = (text: string): unknown => {
  try {
    return parseRequestJson(text);
  } catch {
    // The parser's message quotes the body, which may contain a secret.
    throw notJson();
  }
};

/**
 * Parses the JSON body of a request. Unknown paths are treated like known ones, so that a caller without a key
 * cannot find out which paths exist.
 */
const readBody = (request: Request): Promise<unknown> =>
  readJson(request, MAX_BODY_BYTES, parseBody);

type Env = { Bindings: RequestNotes };

/**
 * One expression for all paths, which takes a fifth of the time of hono's choice, a tree. The few paths that it refuses,
 * because a literal and a parameter have one position, are in a tree. No path is in both.
 */
const createRouter = <T>(): Router<T> => {
  const [expression, tree] = [new RegExpRouter<T>(), new TrieRouter<T>()];
  return {
    name: "expression-and-tree",
    add(method, path, handler) {
      try {
        expression.add(method, path, handler);
      } catch (error) {
        if (!(error instanceof UnsupportedPathError)) throw error;
        tree.add(method, path, handler);
      }
    },
    match(method, path) {
      const found = expression.match(method, path);
      return found[0].length > 0 ? found : tree.match(method, path);
    },
  };
};

export interface AppDependencies {
  readonly routes: readonly MountedRoute[];
  readonly findKey: FindKey;
  /** Throws 429 for a caller above its rate limit. */
  readonly admit: (caller: KeyRecord) => void;
  readonly newId: () => string;
  /** Runs a route for a caller, after advancing all due tasks. Returns a promise only if it has to wait. */
  readonly run: (route: Route, raw: RawValues, caller: KeyRecord) => unknown;
  /** Receives every fault of the service. The caller only sees status 500 and the request id. */
  readonly onFault: (error: Error, requestId: string) => void;
}

const JSON_TYPE = { "content-type": "application/json" };

const fillPath = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

/** Sets the headers of RFC 9745: the instant in Unix seconds, and a link to the successor. */
const announceDeprecation = (
  context: Context,
  { since, successorPath }: NonNullable<Endpoint["deprecated"]>,
): void => {
  const successor = fillPath(successorPath, context.req.param());
  context.header("Deprecation", `@${epochMsOf(since) / 1000}`);
  context.header("Link", `<${successor}>; rel="successor-version"`);
};

/** Matches the paths of a template such as `/v1/tasks/{task_id}`. */
export const pathPattern = (template: string): RegExp =>
  new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`);

/** Finds the methods of a path; none for an unknown path. */
export const createMethodFinder = (endpoints: readonly Pick<Endpoint, "method" | "path">[]) => {
  const patterns = endpoints.map(({ method, path }) => ({
    method,
    pattern: pathPattern(path),
  }));
  return (path: string): readonly string[] =>
    patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
};

/** Request id in the form of the provider's samples: 32 hex digits. */
export const requestIdOf = (newId: () => string): string => newId().replaceAll("-", "");

const refusal = (path: string, error: RefusedError, newId: () => string): Response => {
  const body = errorBody(familyOf(path), error, requestIdOf(newId));
  return new Response(formatWireJson(body), { status: error.status, headers: JSON_TYPE });
};

/** Responds 400 to a request with a host or target that cannot be part of a URL. */
export const refuseUnreadable = (newId: () => string): Response =>
  refusal("/", invalid({ request: ["must have a valid host and target"] }), newId);

/** Responds 403 to a request with a `Host` header that is none of the given names. */
export const refuseHost = (
  { url }: Request,
  hosts: readonly string[],
  newId: () => string,
): Response => {
  const names = `${hosts.slice(0, -1).join(", ")} or ${hosts.at(-1)}`;
  const error = new RefusedError("forbidden", `host: must be ${names}`);
  return refusal(new URL(url).pathname, error, newId);
};

/** 404 for a path without methods, otherwise 405. */
export const wrongPath = (context: Context, methods: readonly string[]): RefusedError => {
  if (methods.length === 0) return notFound("path");
  context.header("Allow", methods.join(", "));
  return new RefusedError("method-not-allowed", `method: must be ${methods.join(" or ")}`);
};

const refuse = (context: Context, error: RefusedError, requestId: string): Response => {
  // RFC 9110 requires this header in every 401.
  if (error.status === 401) context.header("WWW-Authenticate", "apikey");
  if (error.status === 429) context.header("Retry-After", String(RETRY_AFTER_SECONDS));
  const body = errorBody(familyOf(context.req.path), error, requestId);
  return context.body(formatWireJson(body), error.status, JSON_TYPE);
};

/**
 * The interface as a Hono app; `fetch` takes an object for its notes. Checks run in the same order for every path: host (in `serve`), size, media
 * type, JSON, key, rate limit, path, method, values, then the checks of the operation.
 */
export const createApp = (dependencies: AppDependencies): Hono<Env> => {
  const { routes, findKey, admit, newId, run, onFault } = dependencies;
  const app = new Hono<Env>({ router: createRouter() });
  const methodsAt = createMethodFinder([
    ...routes.map(({ endpoint }) => endpoint),
    ...DOCS_PATHS.map((path) => ({ method: "GET" as const, path })),
  ]);

  const identify = ({ req }: Context): KeyRecord => {
    const caller = authenticate(req.raw.headers.get("authorization"), findKey);
    admit(caller);
    return caller;
  };

  const mount = ({ endpoint, route }: MountedRoute): void => {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ":$1");
    const respond = (context: Context, reply: unknown): Response =>
      reply === undefined
        ? context.body(null, 204)
        : context.body(formatWireJson(reply), 200, JSON_TYPE);
    const answer = (context: Context, body: unknown): Response | Promise<Response> => {
      const { req } = context;
      const caller = identify(context);
      if (endpoint.deprecated) announceDeprecation(context, endpoint.deprecated);
      const values = { params: req.param(), query: queryOf(req.url), body };
      const reply = run(route, values, caller);
      return reply instanceof Promise
        ? reply.then((settled) => respond(context, settled))
        : respond(context, reply);
    };
    // One handler without middleware: hono calls it directly, which is faster than a composed chain. A read answers
    // without a promise: the HTTP adapter then needs none either, nor a listener for an aborted request.
    app.on(endpoint.method, path, (context): Response | Promise<Response> => {
      const { req, env } = context;
      env.path = req.path;
      env.operation = route.id;
      return mayHaveBody(req.raw)
        ? readBody(req.raw).then((body) => answer(context, body))
        : answer(context, undefined);
    });
  };

  app.route("/", createDocs());
  for (const mounted of routes) mount(mounted);
  app.notFound(async (context) => {
    await readBody(context.req.raw);
    identify(context);
    throw wrongPath(context, methodsAt(context.req.path));
  });
  app.onError((error, context) => {
    // Only errors have an id, because creating one costs more than most responses.
    const requestId = requestIdOf(newId);
    context.env.requestId = requestId;
    if (error instanceof RefusedError) return refuse(context, error, requestId);
    onFault(error, requestId);
    return refuse(context, fault(), requestId);
  });
  return app;
};
