import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { axeViolations, HOSTILE_CALL, openTab, overflow } from "./tab.ts";

/** Serves one page under a policy. */
const serve = async (body: string, policy: string): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
    });
    response.end(`<!doctype html><html lang="en"><title>Test</title><main><h1>Test</h1>${body}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

const STRICT = "default-src 'none'; script-src 'self'";
const INLINE = "default-src 'none'; script-src 'unsafe-inline'";

test("a correct page under a strict policy has no trouble, no violation and no overflow", async () => {
  const { page, troubles } = await openTab(390);
  await page.goto(await serve("<p>Nothing wrong</p>", STRICT));
  expect(await axeViolations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(troubles).toEqual([]);
});

test("a policy that blocks hostile text is a trouble", async () => {
  const { page, troubles } = await openTab();
  await page.goto(await serve(`<img src=x alt="" onerror="${HOSTILE_CALL}">`, STRICT));
  await expect.poll(() => troubles).toContain("policy: script-src-attr blocks inline");
});

test.for([
  [`<script>${HOSTILE_CALL}</script>`, "executed: a hostile text"],
  ["<script>alert(1)</script>", "dialog: 1"],
  ["<script>throw new Error('wrong')</script>", "uncaught: wrong"],
  ["<script>console.error('bad')</script>", "console: bad"],
])("%s is a trouble", async ([body, trouble]) => {
  const { page, troubles } = await openTab();
  await page.goto(await serve(body!, INLINE));
  await expect.poll(() => troubles).toEqual([trouble]);
});

test("axe-core and the overflow find what is wrong with a page", async () => {
  const { page } = await openTab(390);
  await page.goto(await serve(`<input><p>${"x".repeat(500)}`, STRICT));
  expect(await axeViolations(page)).toEqual(["label: input"]);
  expect(await overflow(page)).toBeGreaterThan(100);
});
