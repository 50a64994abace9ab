import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { test as base, describe, expect } from "vitest";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { startSkyhook } from "../support/skyhook-process.ts";
import { openTab } from "./tab.ts";

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

const authorize = async (page: Page, key: string): Promise<void> => {
  await page.locator(".auth-wrapper .authorize").first().click();
  const dialog = page.locator(".dialog-ux");
  await dialog.getByRole("textbox").fill(key);
  await dialog.getByRole("button", { name: "Apply credentials" }).click();
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
    section,
    status: await reply.locator(".response-col_status").innerText(),
    text: await reply.innerText(),
  };
};

describe("the API reference", () => {
  test("sends a request with the printed key, and shows the reply", async ({ pageUrl }) => {
    const { page, troubles, elsewhere } = await openReference(pageUrl);

    await authorize(page, KEY);
    const { status, text } = await tryIt(page, "cloud", "list-tasks");
    expect(status).toMatch(/^200/);
    expect(text).toContain('"count"');

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
});
