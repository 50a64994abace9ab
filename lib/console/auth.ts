import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/**
 * The token of a run, from a secret that no other user knows. A data directory keeps its secret, so that an open
 * page still has its token after a restart.
 */
export const tokenOf = (secret: string): string =>
  createHmac("sha256", secret).update("console").digest("base64url");

/** A token of a console that keeps no secret. UUIDs would be easier to guess. */
export const newToken = (): string => randomBytes(32).toString("base64url");

/** The address that opens the page: it sets the page's cookie. @param url without a trailing slash */
export const pageAddress = (url: string, token: string): string => `${url}/?token=${token}`;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const isEqual = (given: string, token: string): boolean =>
  timingSafeEqual(digest(given), digest(token));

/** Browsers send a cookie to every port of a host, so each console has a cookie of its own. */
const cookieName = (context: Context): string => `skyhook-${new URL(context.req.url).port}`;

const bearerOf = (context: Context): string | undefined =>
  /^Bearer +(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];

/** Whether a browser shows the answer to a person. */
const isNavigation = ({ req }: Context): boolean => req.header("sec-fetch-mode") === "navigate";

/** Refuses in JSON; a person who opens an address in a browser gets plain text. */
const refuse = (context: Context, status: 401 | 403 | 415, error: string): Response =>
  isNavigation(context)
    ? context.text(`Skyhook: ${error}`, status)
    : context.json({ error }, status);

/**
 * Whether another origin's page sent the request. Pages at other ports of this machine are the same site for
 * `SameSite`, so the cookie alone does not keep them out. They may lead to the page, but not to other routes: some
 * reads hide dead letters or call the provider.
 */
const isForeign = (context: Context): boolean => {
  const { origin } = new URL(context.req.url);
  const sender = context.req.header("origin");
  if (sender !== undefined) return sender !== origin;
  const site = context.req.header("sec-fetch-site") ?? "none";
  const leadsToPage = context.req.path === "/" && isNavigation(context);
  return site !== "same-origin" && site !== "none" && !leadsToPage;
};

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

const setHeaders = (context: Context): void => {
  for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
};

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

const NO_TOKEN =
  "no valid token: open the address that Skyhook printed, or send its token as `Authorization: Bearer`";

/** Whether the request has the right token, in its header or in the page's cookie. */
const isLetIn = (context: Context, token: string): boolean => {
  const given = bearerOf(context) ?? getCookie(context, cookieName(context));
  return given !== undefined && isEqual(given, token);
};

/** Whether `GET /?token=…` has the right token: the address that Skyhook printed. */
const isPrintedAddress = ({ req }: Context, token: string): boolean =>
  req.method === "GET" && req.path === "/" && isEqual(req.query("token") ?? "", token);

/** Whether the body is JSON; a form of a web page cannot claim that without a preflight. */
const isJson = ({ req }: Context): boolean =>
  /^application\/json\s*(;|$)/i.test(req.header("content-type") ?? "");

/**
 * Guards every route, in this order: a foreign origin gets 403, a request without the token 401, a change of
 * another content type than JSON 415. `GET /?token=…` sets the cookie of the page and leads to `/`.
 */
export const guard =
  (token: string): MiddlewareHandler =>
  async (context, next) => {
    setHeaders(context);
    if (isForeign(context)) return refuse(context, 403, "the Origin header must be this address");
    if (isPrintedAddress(context, token)) {
      const attributes = { httpOnly: true, sameSite: "Strict", path: "/" } as const;
      setCookie(context, cookieName(context), token, attributes);
      return context.redirect("/", 303);
    }
    if (!isLetIn(context, token)) return refuse(context, 401, NO_TOKEN);
    if (!READS.has(context.req.method) && !isJson(context)) {
      return refuse(context, 415, "content-type must be application/json");
    }
    await next();
    // A stream of events sets a cache-control of its own.
    setHeaders(context);
    return undefined;
  };
