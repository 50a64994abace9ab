import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Handler, Hono } from "hono";
import { etag } from "hono/etag";
import { lazy } from "../contract/lazy.ts";
import { createOpenApi } from "../contract/openapi.ts";
import { packageFolder } from "../platform/package-folder.ts";

/** The page and what it loads, by path. `infra/build.mjs cli` writes the files. */
const PAGE = {
  "/docs": { file: "index.html", type: "text/html" },
  "/docs/main.js": { file: "main.js", type: "text/javascript" },
  "/docs/main.css": { file: "main.css", type: "text/css" },
  "/docs/swagger-ui-bundle.js": { file: "swagger-ui-bundle.js", type: "text/javascript" },
  "/docs/swagger-ui.css": { file: "swagger-ui.css", type: "text/css" },
} as const;

/** Paths that answer GET without a key. */
export const DOCS_PATHS: readonly string[] = ["/openapi.json", ...Object.keys(PAGE)];

/** The page runs its own scripts only, and sends requests to this service only. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // A newer version has the same paths, so the browser asks each time, and gets 304 for an unchanged file.
  "cache-control": "no-cache",
};

const NOT_BUILT =
  "This copy of the service has no API reference: run `node infra/build.mjs cli` in a clone. /openapi.json describes the same interface.\n";

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

const serveFile =
  (folder: () => string, { file, type }: (typeof PAGE)[keyof typeof PAGE]): Handler =>
  async (context) => {
    try {
      const content = await readFile(join(folder(), file), "utf8");
      return context.body(content, 200, { ...HEADERS, "content-type": `${type}; charset=utf-8` });
    } catch (error) {
      if (!isMissing(error)) throw error;
      return context.text(NOT_BUILT, 404);
    }
  };

/**
 * Serves `/openapi.json`, and the API reference at `/docs`. They need no key, because they contain no secret.
 * @param folder of the built page; its files are read at each request
 */
export const createDocs = (folder = () => join(packageFolder(), "dist", "docs")): Hono => {
  const app = new Hono();
  const openApi = lazy(createOpenApi);
  app.get("/openapi.json", (context) => context.json(openApi()));
  for (const [path, file] of Object.entries(PAGE)) app.get(path, etag(), serveFile(folder, file));
  return app;
};
