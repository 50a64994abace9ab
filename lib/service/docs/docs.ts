import { Hono } from "hono";
import { createOpenApi } from "../../contract/openapi.ts";
import { docsPage } from "./page.ts";

/** Made when it is first asked for: most runs are asked for operations only. */
const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

export const DOCS_PATHS = ["/openapi.json", "/docs"] as const;

/** The description of the interface. It holds no secret, so it needs no key. */
export const createDocs = (): Hono => {
  const app = new Hono();
  const openApi = once(createOpenApi);
  const page = once(() => docsPage(openApi()));
  app.get("/openapi.json", (context) => context.json(openApi()));
  app.get("/docs", async (context) => context.html(await page()));
  return app;
};
