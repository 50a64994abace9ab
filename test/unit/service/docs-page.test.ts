import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDocs, DOCS_PATHS } from "../../../lib/service/docs.ts";
import { startService } from "./harness.ts";

const ASSETS = DOCS_PATHS.filter((path) => path !== "/openapi.json");

const open = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const { service } = await startService();
  return service.fetch(new Request(`http://service.test${path}`, init));
};

test.each([
  ["/docs", "text/html; charset=utf-8"],
  ["/docs/main.js", "text/javascript; charset=utf-8"],
  ["/docs/main.css", "text/css; charset=utf-8"],
  ["/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["/docs/swagger-ui.css", "text/css; charset=utf-8"],
])("%s needs no key, and has its type and the security headers", async (path, type) => {
  const { status, headers } = await open(path);

  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe(type);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  const policy = headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toContain("unsafe");
});

test("an unchanged file is not sent again", async () => {
  for (const path of ASSETS) {
    const first = await open(path);
    expect(first.headers.get("cache-control"), path).toBe("no-cache");
    const tag = first.headers.get("etag") ?? "";

    const again = await open(path, { headers: { "if-none-match": tag } });

    expect([again.status, await again.text()], path).toEqual([304, ""]);
  }
});

test("HEAD answers without a body, and other methods get 405", async () => {
  const { send } = await startService();

  for (const path of DOCS_PATHS) {
    const head = await open(path, { method: "HEAD" });
    expect([head.status, await head.text()], path).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await send(method, path, { body: {} });
      expect([answer.status, answer.headers.get("allow")], path).toEqual([405, "GET"]);
    }
  }
});

test("other paths below /docs are unknown, and lead to no other file", async () => {
  const { send } = await startService();

  for (const path of ["/docs/", "/docs/LICENSE", "/docs/..%2fskyhook.mjs", "/docs/index.html"]) {
    expect((await send("GET", path)).status, path).toBe(404);
  }
});

test("the page loads files of this service only", async () => {
  const html = await (await open("/docs")).text();
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target);

  expect(loaded.filter((target) => target !== "data:,").sort()).toEqual(
    [...ASSETS.filter((path) => path !== "/docs"), "/openapi.json"].sort(),
  );
  for (const path of ["/docs/swagger-ui.css", "/docs/main.css"]) {
    const css = await (await open(path)).text();
    expect(css, path).not.toMatch(/@import|url\(["']?(?!["']?data:)/);
  }
  expect(await (await open("/docs/main.js")).text()).not.toMatch(/https?:\/\//);
});

test("without its built files the page says how to build them, and names the document", async () => {
  const empty = await mkdtemp(join(tmpdir(), "skyhook-docs-"));
  const response = await createDocs(() => empty).request("/docs");
  await rm(empty, { recursive: true });

  expect(response.status).toBe(404);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await response.text()).toMatch(/node infra\/build\.mjs cli[\s\S]*\/openapi\.json/);
});
