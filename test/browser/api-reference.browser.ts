import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { test as base, describe, expect } from "vitest";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { startSkyhook } from "../support/skyhook-process.ts";
import { openTab } from "./tab.ts";
import { expectSound } from "./visit.ts";

const KEY = BUILT_IN_API_KEYS.first;

/** The page of a service that all tests share. */
const test = base.extend<{ readonly pageUrl: string }>({
  pageUrl: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's dependencies in this place
    async ({}, use) => {
      const state = await mkdtemp(join(tmpdir(), "skyhook-browser-"));
      const program = startSkyhook(["service"], { XDG_STATE_HOME: state });
      await program.printed("/docs");
      const [pageUrl = ""] = /http:\S+\/docs/.exec(program.stderr()) ?? [];
      await use(pageUrl);
      program.child.kill("SIGTERM");
      await program.ended();
      await rm(state, { recursive: true });
    },
    { scope: "file" },
  ],
});

/** Opens the page, and records requests that do not go to the service. */
const openReference = async (pageUrl: string) => {
  const tab = await openTab();
  const elsewhere: string[] = [];
  const { origin } = new URL(pageUrl);
  tab.page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.origin !== origin) elsewhere.push(url.href);
  });
  await tab.page.goto(pageUrl);
  await tab.page.getByRole("heading", { name: "Cloud infrastructure service" }).waitFor();
  return { ...tab, elsewhere };
};

const openDialog = async (page: Page) => {
  await page.getByRole("region", { name: "Send requests" }).getByRole("button").click();
  const dialog = page.locator(".dialog-ux");
  await dialog.getByRole("textbox").waitFor();
  return dialog;
};

const authorize = async (page: Page, key: string): Promise<void> => {
  const dialog = await openDialog(page);
  await dialog.getByRole("textbox").fill(key);
  await dialog.getByRole("button", { name: "Authorize" }).click();
  await dialog.getByRole("button", { name: "Close" }).last().click();
};

/** Opens an operation, sends its example, and returns the status of the reply and its text. */
const tryIt = async (page: Page, family: string, operation: string) => {
  const section = page.locator(`#operations-${family}-${operation}`);
  await section.locator(".opblock-summary-control").click();
  await section.getByRole("button", { name: "Try it out" }).click();
  await section.getByRole("button", { name: "Execute" }).click();
  const reply = section.locator(".live-responses-table .response");
  await reply.waitFor();
  return {
    status: await reply.locator(".response-col_status").innerText(),
    text: await reply.innerText(),
  };
};

describe("the API reference", () => {
  test("fits and is accessible", async ({ pageUrl }) => {
    const { page, troubles, elsewhere } = await openReference(pageUrl);
    await expectSound(page, "api-reference");

    await openDialog(page);
    await expectSound(page, "api-reference-key");

    expect(troubles).toEqual([]);
    expect(elsewhere).toEqual([]);
  });

  test("sends a read with the printed key, and shows the reply", async ({ pageUrl }) => {
    const { page, troubles, elsewhere } = await openReference(pageUrl);

    await authorize(page, KEY);
    const { status, text } = await tryIt(page, "cloud", "list-tasks");

    expect(status).toMatch(/^200/);
    expect(text).toContain("d478ae29-dedc-4869-82f0-96104425f565");
    expect(troubles).toEqual([]);
    expect(elsewhere).toEqual([]);
  });

  test("changes a resource, and stays accessible with the reply", async ({ pageUrl }) => {
    const { page, troubles, elsewhere } = await openReference(pageUrl);

    await authorize(page, `apikey ${KEY}`);
    const { status, text } = await tryIt(page, "storage", "create-storage-event");

    expect(status).toMatch(/^200/);
    expect(text).toContain('"uuid"');
    const read = await fetch(new URL("/storage/notifications/v1/events", pageUrl), {
      headers: { authorization: `apikey ${KEY}` },
    });
    expect(await read.json()).toMatchObject({ reaching_used_requests: [{ count: 1_000_000 }] });
    await expectSound(page, "api-reference-reply");
    expect(troubles).toEqual([]);
    expect(elsewhere).toEqual([]);
  });

  test("shows the refusal of a request without a key", async ({ pageUrl }) => {
    const { page, troubles } = await openReference(pageUrl);

    const { status, text } = await tryIt(page, "cloud", "list-tasks");

    expect(status).toMatch(/^401/);
    expect(text).toContain("not_authenticated");
    expect(troubles).toEqual([]);
  });

  test("needs no mouse", async ({ pageUrl }) => {
    const { page, troubles } = await openReference(pageUrl);
    const press = (key: string): Promise<void> => page.keyboard.press(key);

    await page.getByRole("region", { name: "Send requests" }).getByRole("button").focus();
    await press("Enter");
    await page.locator(".dialog-ux").getByRole("textbox").focus();
    await page.keyboard.type(KEY);
    await press("Enter");
    await page.locator(".dialog-ux").getByRole("button", { name: "Close" }).last().focus();
    await press("Enter");
    const section = page.locator("#operations-cloud-get-task");
    await section.locator(".opblock-summary-control").focus();
    await press("Enter");
    await section.getByRole("button", { name: "Try it out" }).focus();
    await press("Enter");
    await section.getByRole("button", { name: "Execute" }).focus();
    await press("Enter");

    await section.locator(".live-responses-table .response").waitFor();
    expect(await section.locator(".live-responses-table").innerText()).toContain("FINISHED");
    expect(troubles).toEqual([]);
  });
});
