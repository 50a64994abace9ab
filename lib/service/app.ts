import { Hono, type Context as HonoContext } from "hono";
import { formatWireJson } from "../contract/json.ts";
import type { Authenticate } from "./authentication.ts";
import { createDocs } from "./docs.ts";
import { errorBody, familyOf, fault, notFound, RefusedError } from "./errors.ts";
import { RETRY_AFTER_SECONDS } from "./rate-limit.ts";
import { readBody } from "./request-body.ts";
import type { RawValues } from "./request-values.ts";
import type { MountedRoute } from "./routes.ts";
import type { Route } from "./routing.ts";
import type { KeyRecord } from "./state/state.ts";

/** E8 was first published as deprecated on 2025-11-18; RFC 9745 wants the instant in Unix seconds. */
const DEPRECATED_SINCE = "@1763424000";

interface Prepared {
  readonly requestId: string;
  readonly caller: KeyRecord;
  readonly body: unknown;
}
interface Environment {
  Variables: Prepared;
}
type RequestContext = HonoContext<Environment>;

export interface AppDependencies {
  readonly routes: readonly MountedRoute[];
  readonly authenticate: Authenticate;
  /** Refuses a caller that asks too often. */
  readonly admit: (caller: KeyRecord) => void;
  readonly newId: () => string;
  /** Runs a route for a caller, after everything that is due has happened. */
  readonly run: (route: Route, raw: RawValues, caller: KeyRecord) => Promise<unknown>;
  /** Told of every fault of ours: the caller sees only that there was one. */
  readonly onFault: (error: Error, requestId: string) => void;
}

const rawValues = (context: RequestContext): RawValues => {
  const { searchParams } = new URL(context.req.url);
  const names = [...new Set(searchParams.keys())];
  return {
    params: context.req.param(),
    query: Object.fromEntries(names.map((name) => [name, searchParams.getAll(name)])),
    body: context.get("body"),
  };
};

const JSON_TYPE = { "content-type": "application/json" };

const fillPath = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

const announceDeprecation = (context: RequestContext, successorPath: string): void => {
  const successor = fillPath(successorPath, context.req.param());
  context.header("Deprecation", DEPRECATED_SINCE);
  context.header("Link", `<${successor}>; rel="successor-version"`);
};

const toHonoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

const mount = (
  app: Hono<Environment>,
  mounted: MountedRoute,
  run: AppDependencies["run"],
): void => {
  const { place, route, successStatus } = mounted;
  app.on(place.method, toHonoPath(place.path), async (context) => {
    if (place.successorPath !== undefined) announceDeprecation(context, place.successorPath);
    const reply = await run(route, rawValues(context), context.get("caller"));
    return reply === undefined
      ? context.newResponse(null, successStatus)
      : context.newResponse(formatWireJson(reply), successStatus, JSON_TYPE);
  });
};

/** What is left for a path when none of its methods matched. */
const refuseOtherMethods = (app: Hono<Environment>, routes: readonly MountedRoute[]): void => {
  for (const path of new Set(routes.map(({ place }) => toHonoPath(place.path)))) {
    const methods = routes
      .filter(({ place }) => toHonoPath(place.path) === path)
      .map(({ place }) => place.method);
    app.all(path, (context) => {
      context.header("Allow", methods.join(", "));
      throw new RefusedError("method-not-allowed", `method: must be ${methods.join(" or ")}`);
    });
  }
};

const refuse = (context: RequestContext, error: RefusedError): Response => {
  // RFC 9110 asks every 401 to say how to authenticate.
  if (error.status === 401) context.header("WWW-Authenticate", "apikey");
  if (error.status === 429) context.header("Retry-After", String(RETRY_AFTER_SECONDS));
  const body = errorBody(familyOf(context.req.path), error, context.get("requestId"));
  return context.body(formatWireJson(body), error.status, JSON_TYPE);
};

/**
 * The interface as a function from request to response. The order of checks is the same everywhere:
 * size, media type, JSON, key, rate, path and method, values, then what the operation itself checks.
 */
export const createApp = (dependencies: AppDependencies): Hono<Environment> => {
  const { routes, authenticate, admit, newId, run, onFault } = dependencies;
  const app = new Hono<Environment>();
  app.route("/", createDocs());
  app.use(async (context, next) => {
    context.set("requestId", newId().replaceAll("-", ""));
    context.set("body", await readBody(context.req.raw));
    const caller = authenticate(context.req.raw.headers.get("authorization"));
    admit(caller);
    context.set("caller", caller);
    await next();
  });
  for (const mounted of routes) mount(app, mounted, run);
  refuseOtherMethods(app, routes);
  app.notFound((context) => refuse(context, notFound("path")));
  app.onError((error, context) => {
    if (error instanceof RefusedError) return refuse(context, error);
    onFault(error, context.get("requestId"));
    return refuse(context, fault());
  });
  return app;
};
