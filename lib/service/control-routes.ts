import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import * as z from "zod";
import { formatWireJson, parseWireJson, placeInJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { TIME_SPAN, TIME_SPAN_RULE, timeSpanMs } from "../contract/time-span.ts";
import { createMethodFinder, requestIdOf, wrongPath } from "./app.ts";
import type { Control } from "./control.ts";
import { errorBody, fault, type InvalidFields, invalid, RefusedError } from "./errors.ts";
import { faultRuleSchema } from "./fault-rules.ts";
import { isJson, mustBeJson, notJson, readJson } from "./request-body.ts";
import { formatSeed, readSeed, SeedError } from "./seed.ts";
import { priceChangeSchema } from "./state/prices.ts";

/** Beginning of every path of the controls. No operation of the interface has it. */
export const CONTROL_PATH = "/_skyhook";

/** Maximum size of a body; a state of a hundred thousand records fits. */
const MAX_BODY_BYTES = 64 * 1_048_576;

const JSON_HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether a page of another origin sent the request. A browser says so, other programs send neither header. */
const isForeign = ({ headers, url }: Request): boolean => {
  const origin = headers.get("origin");
  if (origin !== null) return origin !== new URL(url).origin;
  return !["same-origin", "none"].includes(headers.get("sec-fetch-site") ?? "none");
};

/**
 * Refuses a request of another origin, one without the token, and a change that is not declared as JSON, which a
 * form of a web page cannot be.
 */
const createGuard = (token: string) => {
  const expected = digestOf(token);
  return (request: Request): void => {
    if (isForeign(request)) {
      throw new RefusedError("forbidden", "origin: must be the address of this service");
    }
    const given = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (given === undefined || !timingSafeEqual(digestOf(given), expected)) {
      const message =
        "authorization: must be 'Bearer <TOKEN>', with the token of the controls, which the service names at its start";
      throw new RefusedError("not-authenticated", message);
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead && !isJson(request.headers.get("content-type"))) throw mustBeJson();
  };
};

const fieldsOf = (problems: readonly Problem[]): InvalidFields => {
  const fields = new Map<string, string[]>();
  for (const { path, rule } of problems) {
    fields.set(path || "body", [...(fields.get(path || "body") ?? []), rule]);
  }
  return Object.fromEntries(fields);
};

const parseBody = (text: string): unknown => {
  try {
    return parseWireJson(text);
  } catch (error) {
    throw notJson(placeInJson(error, text));
  }
};

const parseState = (text: string) => {
  try {
    return readSeed(text);
  } catch (error) {
    if (error instanceof SeedError) throw invalid(fieldsOf(error.problems));
    throw error;
  }
};

/** @throws RefusedError 400 with every field that breaks a rule */
const checked = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(fieldsOf(problemsOf(parsed.error.issues)));
};

const nothing = z.strictObject({}).optional();

const advanceSchema = z.strictObject({
  by: z
    .string({ error: ({ input }) => (input === undefined ? undefined : TIME_SPAN_RULE) })
    .regex(TIME_SPAN, { error: TIME_SPAN_RULE }),
});

const nameSchema = z.object({
  name: z.string().regex(/^[\w.-]{1,64}$/, { error: "1 to 64 letters, digits, _ . or -" }),
});

/** A route: its method and path, and what it answers. A text is sent as it is, undefined as 204. */
interface ControlRoute {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
  readonly path: string;
  readonly answer: (request: Request, params: Readonly<Record<string, string>>) => unknown;
}

const bodyOf = async <S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> =>
  checked(schema, await readJson(request, MAX_BODY_BYTES, parseBody));

const clockRoutes = ({ clock }: Control): readonly ControlRoute[] => {
  const afterwards = (method: "freeze" | "resume"): ControlRoute => ({
    method: "POST",
    path: `/clock/${method}`,
    async answer(request) {
      await bodyOf(request, nothing);
      clock[method]();
      return clock.read();
    },
  });
  return [
    { method: "GET", path: "/clock", answer: clock.read },
    {
      method: "POST",
      path: "/clock/advance",
      async answer(request) {
        const { by } = await bodyOf(request, advanceSchema);
        try {
          clock.advance(timeSpanMs(by));
        } catch (error) {
          if (error instanceof RangeError) throw invalid({ by: [error.message] });
          throw error;
        }
        return clock.read();
      },
    },
    afterwards("freeze"),
    afterwards("resume"),
  ];
};

const stateRoutes = ({ state }: Control): readonly ControlRoute[] => [
  { method: "GET", path: "/state", answer: async () => formatSeed(await state.export()) },
  {
    method: "PUT",
    path: "/state",
    async answer(request) {
      const given = await readJson(request, MAX_BODY_BYTES, parseState);
      if (given === undefined) throw invalid({ body: ["required"] });
      await state.import(given);
    },
  },
  {
    method: "POST",
    path: "/state/reset",
    async answer(request) {
      await bodyOf(request, nothing);
      await state.reset();
    },
  },
];

const snapshotRoutes = ({ snapshots }: Control): readonly ControlRoute[] => {
  const named = (
    method: ControlRoute["method"],
    path: string,
    act: (name: string) => unknown,
  ): ControlRoute => ({
    method,
    path,
    async answer(request, params) {
      const { name } = checked(nameSchema, params);
      await bodyOf(request, nothing);
      return act(name);
    },
  });
  return [
    { method: "GET", path: "/snapshots", answer: snapshots.list },
    named("PUT", "/snapshots/{name}", snapshots.save),
    named("POST", "/snapshots/{name}/restore", snapshots.restore),
    named("DELETE", "/snapshots/{name}", snapshots.remove),
  ];
};

const faultRoutes = ({ faults }: Control): readonly ControlRoute[] => [
  { method: "GET", path: "/faults", answer: faults.list },
  {
    method: "POST",
    path: "/faults",
    answer: async (request) => faults.add(await bodyOf(request, faultRuleSchema)),
  },
  {
    method: "DELETE",
    path: "/faults",
    async answer(request) {
      await bodyOf(request, nothing);
      faults.clear();
    },
  },
  {
    method: "DELETE",
    path: "/faults/{id}",
    async answer(request, { id = "" }) {
      await bodyOf(request, nothing);
      faults.remove(id);
    },
  },
];

const otherRoutes = ({ requests, prices }: Control): readonly ControlRoute[] => [
  { method: "GET", path: "/requests", answer: requests.list },
  {
    method: "DELETE",
    path: "/requests",
    async answer(request) {
      await bodyOf(request, nothing);
      requests.clear();
    },
  },
  { method: "GET", path: "/prices", answer: prices.list },
  {
    method: "PATCH",
    path: "/prices",
    answer: async (request) => prices.change(await bodyOf(request, priceChangeSchema)),
  },
];

interface ControlAppOptions {
  readonly control: Control;
  /** Opens every route. The API keys of the interface do not. */
  readonly token: string;
  readonly newId: () => string;
  /** Receives every fault of the service. The caller only sees status 500 and the request id. */
  readonly onFault: (error: Error, requestId: string) => void;
}

/**
 * The controls over HTTP, under `/_skyhook/`. Checks run in the same order for every path: host (in `serve`), origin,
 * token, content type, path, method, size, JSON, values.
 */
export const createControlApp = (options: ControlAppOptions): Hono => {
  const { control, token, newId, onFault } = options;
  const guard = createGuard(token);
  const routes = [clockRoutes, stateRoutes, snapshotRoutes, faultRoutes, otherRoutes]
    .flatMap((routesOf) => routesOf(control))
    .map((route) => ({ ...route, path: `${CONTROL_PATH}${route.path}` }));
  const methodsAt = createMethodFinder(routes);
  const app = new Hono();
  app.use(async ({ req }, next) => {
    guard(req.raw);
    await next();
  });
  for (const { method, path, answer } of routes) {
    app.on(method, path.replace(/\{(\w+)\}/, ":$1"), async (context: Context) => {
      const answered = await answer(context.req.raw, context.req.param());
      if (answered === undefined) return context.body(null, 204);
      const text = typeof answered === "string" ? answered : formatWireJson(answered);
      return context.body(text, 200, JSON_HEADERS);
    });
  }
  app.notFound((context) => {
    throw wrongPath(context, methodsAt(context.req.path));
  });
  app.onError((error, context) => {
    const requestId = requestIdOf(newId);
    const refused = error instanceof RefusedError ? error : fault();
    if (refused !== error) onFault(error, requestId);
    if (refused.status === 401) context.header("WWW-Authenticate", "Bearer");
    const body = formatWireJson(errorBody("cloud", refused, requestId));
    return context.body(body, refused.status, JSON_HEADERS);
  });
  return app;
};
