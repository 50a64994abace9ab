import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startRun } from "./console-run.ts";
import { openTab } from "./tab.ts";

/** A page at another port of this machine, which gets the console's cookie along. @returns its address */
const serveOther = async (html: string): Promise<string> => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** What a page can try with a route: read it, change it, listen to it, run it. Resolves with what succeeded. */
const TRIES = `async (console) => {
  const post = { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body: "{}" };
  const tries = {
    read: () => fetch(console + "commands", { credentials: "include" }),
    opaque: () => fetch(console + "commands", { mode: "no-cors", credentials: "include" }),
    change: () => fetch(console + "commands", { ...post, credentials: "include" }),
    listen: () => new Promise((resolve, reject) => {
      const source = new EventSource(console + "events/stream", { withCredentials: true });
      source.onopen = resolve;
      source.onerror = reject;
    }),
    script: () => new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: console + "session", onload: resolve, onerror: reject });
      document.body.append(script);
    }),
  };
  const done = [];
  for (const [name, run] of Object.entries(tries)) await run().then(() => done.push(name), () => {});
  return done;
}`;

test("a page at another port can only lead to the console's page", async () => {
  const run = await startRun(["--no-demo"]);
  const home = new URL("/", run.pageUrl).href;
  const { page } = await openTab();
  await page.goto(run.pageUrl);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const other = await serveOther("<title>other</title><body></body>");
  await page.goto(other);

  expect(await page.evaluate(`(${TRIES})("${home}")`)).toEqual([]);

  const read = page.waitForResponse(`${home}dead-letters`);
  await page.evaluate(`location.href = "${home}dead-letters"`);
  expect((await read).status()).toBe(403);
  await page.waitForURL(`${home}dead-letters`);
  await page.goto(other);
  await page.evaluate(`location.href = "${home}#/lanes"`);
  await page.getByRole("heading", { name: "Lanes" }).waitFor();
});

test("the page runs no script of its own text, and sends nothing elsewhere", async () => {
  const run = await startRun(["--no-demo"]);
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  const other = await serveOther("");

  await page.evaluate(`{
    const script = document.createElement("script");
    script.textContent = "hostile()";
    const image = document.createElement("img");
    image.src = "${other}";
    document.body.append(script, image);
  }`);
  await expect
    .poll(() => troubles.filter((trouble) => trouble.startsWith("policy")))
    .toHaveLength(2);

  expect(troubles.join("\n")).not.toContain("executed");
  expect(await page.evaluate("document.cookie")).toBe("");
});
